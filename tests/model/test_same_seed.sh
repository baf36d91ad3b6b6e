#!/usr/bin/env bash
# Two runs of the simulated database with one seed record the same history, through the whole of rig.
set -euo pipefail

folder=$(mktemp -d "${TMPDIR:-/tmp}/rig-same-seed-XXXXXX")
trap 'rm -rf "$folder"' EXIT
same=$1
status=0

run() { # <folder> <seed> <setting>...
    local to=$1 seed=$2
    shift 2
    local settings=()
    for setting in "$@"; do settings+=(--set "$setting"); done
    "$RIG" run "$RIG_SOURCE/configs/sim-serializable.yaml" --seed "$seed" -o "$folder/$to" "${settings[@]}" \
        --set workload.transactions=3000 --set clients.count=7 >"$folder/$to.out" 2>&1 || true
}

for isolation in serializable snapshot-isolation repeatable-read read-committed read-uncommitted; do
    settings=("database.isolation=$isolation" database.abort-rate=2% database.info-rate=2% database.loss-rate=2%
        workload.long-transactions.share=2% workload.long-transactions.until-commits=5 database.patience=60s)
    run "$isolation-1" 5 "${settings[@]}"
    run "$isolation-2" 5 "${settings[@]}"
    run "$isolation-3" 6 "${settings[@]}"
    if ! "$same" "$folder/$isolation-1/history.rig" "$folder/$isolation-2/history.rig"; then
        echo "$isolation: two runs with one seed differ"
        cat "$folder/$isolation-1.out"
        status=1
    fi
    other=0
    "$same" "$folder/$isolation-1/history.rig" "$folder/$isolation-3/history.rig" >"$folder/other" || other=$?
    if [ $other -ne 1 ]; then
        echo "$isolation: another seed gives the same history, or none"
        status=1
    fi
done
exit $status
