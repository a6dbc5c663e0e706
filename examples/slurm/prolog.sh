#!/bin/bash
# Slurm Prolog (slurm.conf: Prolog=/etc/slurm/prolog.sh): a node whose GPUs are not as they should be takes no job.
# Exit code 1 makes Slurm drain the node and requeue the job, so only a requirement that does not hold leads to it:
# when tfdoctor itself fails (2) or hangs (124) the job starts. What is printed is in slurmd's log.
# No user's TensorFlow is known here: the file holds what the node must have, such as gpus>=8, driver>=550, ecc=clean.
set -u
tfdoctor=${TFDOCTOR:-/opt/tfdoctor/bin/tfdoctor}
expect=${TFDOCTOR_EXPECT:-/etc/tfdoctor/expect.txt}

[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0 # a job without GPUs

said=$(timeout 60 "$tfdoctor" check --expect "$expect" --fail-on requirement --format github 2>&1)
code=$?
printf '%s\n' "$said"
[ "$code" -ne 1 ] || exit 1
exit 0
