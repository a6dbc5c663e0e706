#!/bin/bash
# Before a long job: every node of the allocation, once. The one-liner in an sbatch script.
srun --ntasks-per-node=1 --kill-on-bad-exit=1 /opt/tfdoctor/bin/tfdoctor check --python "$(command -v python3)" --require gpu --require "gpus>=${SLURM_GPUS_ON_NODE:-1}"
