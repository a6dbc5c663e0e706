#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
# Before a long job every node of the allocation is examined, once; the job ends where one is not as it should be.
set -e
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --kill-on-bad-exit=1 \
  /opt/tfdoctor/bin/tfdoctor check --python "$(command -v python3)" --require gpu --require "gpus>=${SLURM_GPUS_ON_NODE:-1}"

srun python3 train.py
