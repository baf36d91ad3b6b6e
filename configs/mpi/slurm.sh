#!/bin/bash
# One run of rig on four machines of a Slurm cluster (docs/mpi.md):
#
#   sbatch configs/mpi/slurm.sh PLAN.yaml
#
# The plan names the database's servers (hosts, endpoints), which every machine must reach. The plan and the folder of the results are read and
# written by rank 0 alone, on the first machine.
#SBATCH --job-name=rig
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --time=00:30:00
# Ten minutes before the time is over, rank 0 ends the load, checks and reports.
#SBATCH --signal=TERM@600
set -euo pipefail

plan=${1:?the plan is missing: sbatch slurm.sh PLAN.yaml}

# --kill-on-bad-exit=0: a rank that is lost ends no other; rank 0 reports it. --wait=0: rank 0 may check for a long time.
exec srun --mpi=pmix --kill-on-bad-exit=0 --wait=0 rig run "$plan" -o "rig-$SLURM_JOB_ID"
