#!/usr/bin/env bash
# `rig gen` makes histories that are right at each level, and each mistake of the simulated database is found;
# through a pipe, as a user would combine the two.
set -uo pipefail

status=0
transactions=20000

judge() { # <expected exit status> <level> <setting>...
    local expected=$1 level=$2 got=0
    shift 2
    local settings=()
    for setting in "$@"; do settings+=(--set "$setting"); done
    "$RIG" gen - --transactions "$transactions" --clients "${clients:-10}" "${settings[@]}" --set database.abort-rate=1% \
        --set database.info-rate=1% 2>/dev/null | "$RIG" check - --level "$level" ${budget:+--budget "$budget"} >/dev/null || got=$?
    if [ $got -ne "$expected" ]; then
        echo "$level, $*: exit status $got instead of $expected"
        status=1
    fi
}

for workload in list-append rw-register; do
    type=workload.type=$workload
    judge 0 strict-serializable $type database.isolation=serializable
    judge 0 strict-serializable $type database.isolation=repeatable-read
    judge 0 strong-snapshot-isolation $type database.isolation=snapshot-isolation
    judge 0 strong-read-committed $type database.isolation=read-committed
    judge 0 strong-read-uncommitted $type database.isolation=read-uncommitted
done
transactions=5000
for shape in general tpcc rubis twitter smallbank courseware cart; do
    for workload in list-append rw-register; do
        load="workload.type=$workload workload.shape=$shape"
        judge 0 strict-serializable $load database.isolation=serializable
        judge 0 strong-snapshot-isolation $load database.isolation=snapshot-isolation
        judge 0 strong-read-committed $load database.isolation=read-committed
        judge 0 strong-read-uncommitted $load database.isolation=read-uncommitted
        judge 1 snapshot-isolation $load database.isolation=read-committed
        judge 1 strict-serializable $load database.bug=stale-read database.bug-rate=20%
    done
    judge 1 serializable workload.shape=$shape database.bug=lost-append database.bug-rate=5%
    judge 1 read-committed workload.type=rw-register workload.shape=$shape database.bug=aborted-read database.bug-rate=5%
done
judge 1 serializable workload.type=rw-register workload.shape=smallbank database.isolation=snapshot-isolation
judge 1 serializable workload.type=rw-register workload.shape=courseware database.isolation=snapshot-isolation \
    workload.rows=10
judge 0 strict-serializable workload.type=rw-register workload.shape=tpcc workload.warehouses=3 workload.final-reads=all
judge 0 strict-serializable workload.type=rw-register workload.shape=tpcc workload.final-reads=none
transactions=20000

# Rows that are read by conditions, without and with the database's own account.
rows="workload.type=predicate workload.statements.updates=30% workload.statements.deletes=20%"
certified="$rows database.certificate=full"
transactions=8000
judge 0 strict-serializable $rows database.isolation=serializable
judge 0 strong-snapshot-isolation $rows database.isolation=snapshot-isolation
judge 0 strong-read-committed $rows database.isolation=read-committed
judge 1 serializable workload.type=predicate database.isolation=repeatable-read
judge 0 repeatable-read $certified database.isolation=repeatable-read
judge 1 serializable $certified database.isolation=repeatable-read
judge 0 strict-serializable $certified database.isolation=serializable
judge 0 read-committed $certified database.isolation=read-committed
for bug in lost-update missed-pivot lost-commit aborted-commit lost-row; do
    judge 1 serializable $certified database.bug=$bug database.bug-rate=5%
done
for bug in stale-read moving-snapshot; do # nothing that the answers show: the certificate itself does
    judge 1 read-uncommitted $certified database.bug=$bug database.bug-rate=5%
done
# The same with columns and NULLs.
rows="workload.type=sql workload.statements.updates=50% workload.statements.deletes=10%"
judge 0 strict-serializable $rows database.isolation=serializable
judge 0 strong-snapshot-isolation $rows database.isolation=snapshot-isolation
judge 1 serializable $rows database.isolation=snapshot-isolation
judge 1 serializable $rows database.isolation=repeatable-read
judge 0 strong-read-committed $rows database.isolation=read-committed
judge 1 snapshot-isolation $rows database.isolation=read-committed
for bug in lost-index-entry lost-update missed-pivot lost-commit aborted-commit lost-row; do
    judge 1 serializable $rows database.bug=$bug database.bug-rate=5%
done
judge 1 read-committed $rows database.isolation=read-committed database.bug=skipped-recheck database.bug-rate=30%
# The same with statements of two reads.
forms="$rows workload.statements.subqueries=40% workload.statements.joins=30% workload.statements.not-exists=30%"
forms="$forms workload.statements.inner-joins=30% workload.statements.limits=50%"
judge 0 strict-serializable $forms database.isolation=serializable
judge 0 strong-snapshot-isolation $forms database.isolation=snapshot-isolation
judge 1 serializable $forms database.isolation=snapshot-isolation
judge 0 strong-read-committed $forms database.isolation=read-committed
judge 1 serializable $forms database.bug=stale-subquery database.bug-rate=5%
judge 1 snapshot-isolation $forms database.isolation=snapshot-isolation database.bug=wrong-limit database.bug-rate=50%
# No outcome is unknown: the level is held.
"$RIG" gen - --transactions "$transactions" --set workload.type=predicate --set workload.statements.updates=30% \
    --set workload.statements.deletes=20% --set database.certificate=full 2>/dev/null | "$RIG" check - --require held \
    --level strict-serializable >/dev/null || { echo "strict-serializable is not held"; status=1; }
transactions=20000

# Counters, banks and long forks: right at each level, and each fault under its name.
for type in counter bank long-fork set monotonic unique-ids dirty-reads sequential multi-key-acid; do
    load="workload.type=$type"
    judge 0 strict-serializable $load database.isolation=serializable
    judge 0 strict-serializable $load database.isolation=repeatable-read
    judge 0 strong-snapshot-isolation $load database.isolation=snapshot-isolation
    judge 0 strong-read-committed $load database.isolation=read-committed
    judge 0 strong-read-uncommitted $load database.isolation=read-uncommitted
    judge 0 read-committed $load database.bug=stale-read
done
judge 0 strict-serializable workload.type=counter workload.amount.negative=40%
judge 1 cursor-stability workload.type=bank workload.accounts.negative=true # a generated file has no plan
judge 1 strong-snapshot-isolation workload.type=counter database.isolation=read-committed
for bug in lost-update stale-read lost-append; do
    judge 1 strong-snapshot-isolation workload.type=counter database.bug=$bug database.bug-rate=2%
done
judge 1 read-committed workload.type=counter workload.amount.most=1 workload.keys.appends-per-key=5 database.bug=dirty-read
judge 1 consistent-view workload.type=bank database.isolation=read-committed
for bug in lost-update lost-append dirty-read aborted-read; do
    judge 1 consistent-view workload.type=bank database.bug=$bug database.bug-rate=2%
done
judge 1 prefix workload.type=long-fork database.isolation=read-committed
judge 1 prefix workload.type=long-fork workload.keys.active=2 database.bug=long-fork database.bug-rate=90% \
    database.isolation=snapshot-isolation
judge 1 strict-serializable workload.type=long-fork database.bug=stale-read
for type in monotonic multi-key-acid dirty-reads; do
    judge 1 snapshot-isolation workload.type=$type database.isolation=read-committed
    judge 1 read-committed workload.type=$type database.bug=aborted-read database.bug-rate=2%
done
for type in monotonic sequential; do
    judge 1 strong-session-snapshot-isolation workload.type=$type database.bug=non-monotonic-session
    judge 1 strict-serializable workload.type=$type database.bug=stale-read
done
judge 1 read-committed workload.type=dirty-reads database.isolation=read-uncommitted
judge 1 cursor-stability workload.type=unique-ids database.isolation=read-committed
judge 1 cursor-stability workload.type=unique-ids database.bug=lost-update database.bug-rate=2%
judge 1 serializable workload.type=multi-key-acid database.isolation=snapshot-isolation
judge 1 strict-serializable workload.type=set database.bug=lost-append database.bug-rate=1%
judge 1 snapshot-isolation workload.type=set database.isolation=read-committed

for type in cas-register mutex; do
    load=workload.type=$type
    judge 0 strict-serializable $load
    judge 0 strict-serializable $load database.loss-rate=1% workload.keys.distribution=uniform workload.keys.active=100
    for bug in wrong-compare lost-append; do
        judge 1 strict-serializable $load database.bug=$bug database.bug-rate=1%
    done
done
for rules in "" workload.lock.kind=reentrant "workload.lock.kind=semaphore workload.lock.most=3" workload.lock.lease=5ms; do
    judge 0 strict-serializable workload.type=lock $rules
    for bug in double-grant repeated-token; do
        judge 1 strict-serializable workload.type=lock $rules workload.keys.active=2 database.bug=$bug database.bug-rate=5%
    done
done
for type in list-append rw-register set; do
    parts="workload.type=$type workload.savepoints.share=30%"
    judge 0 strict-serializable $parts workload.long-transactions.share=5% workload.long-transactions.until-commits=20
    judge 0 read-committed $parts database.isolation=read-committed
    judge 0 strict-serializable $parts workload.savepoints.operations=4 workload.savepoints.reads=50%
    for bug in savepoint-leak savepoint-read; do
        judge 1 read-committed $parts database.bug=$bug database.bug-rate=2%
    done
done
for type in counter bank; do
    parts="workload.type=$type workload.savepoints.share=30% workload.savepoints.reads=40%"
    judge 0 strict-serializable $parts workload.long-transactions.share=5% workload.long-transactions.until-commits=20
    judge 1 strict-serializable $parts database.bug=savepoint-leak database.bug-rate=2%
done
judge 0 strict-serializable workload.type=append-register
for bug in stale-read duplicate-append lost-append reordered-append; do
    judge 1 strict-serializable workload.type=append-register database.bug=$bug database.bug-rate=1%
done
judge 0 strict-serializable workload.type=queue
transactions=2000
for type in queue stack; do
    clients=5 judge 0 strict-serializable workload.type=$type
    for bug in double-take reordered-take empty-take lost-append; do
        budget=1s clients=5 judge 1 strict-serializable workload.type=$type database.bug=$bug database.bug-rate=1%
    done
done
transactions=20000
for bug in stale-read refused-write; do
    judge 1 strict-serializable workload.type=cas-register database.bug=$bug database.bug-rate=1%
done
judge 0 strict-serializable workload.type=cas-register workload.values=1000000 workload.compare-and-sets=0%
judge 0 strict-serializable database.workers=3 workload.keys.appends-per-key=1000 workload.keys.distribution=zipf
judge 0 strict-serializable database.think=50 database.latency=3 database.loss-rate=1% workload.final-reads=all
judge 0 strict-serializable workload.long-transactions.share=1% workload.long-transactions.until-commits=50
judge 0 strict-serializable workload.final-reads=none workload.keys.appends-per-key=10

for isolation in serializable repeatable-read; do # as many as are drawn ahead
    clients=1500 judge 0 strict-serializable database.isolation=$isolation workload.keys.active=1000
    clients=1500 judge 0 strict-serializable database.isolation=$isolation database.workers=20
done

judge 1 serializable database.isolation=snapshot-isolation
judge 1 snapshot-isolation database.isolation=read-committed
judge 1 read-committed database.isolation=read-uncommitted
judge 1 snapshot-isolation database.isolation=snapshot-isolation database.bug=long-fork database.bug-rate=80%
for bug in lost-update dirty-read aborted-read intermediate-read duplicate-append lost-append reordered-append; do
    judge 1 serializable database.bug=$bug database.bug-rate=5%
done
for bug in stale-read non-monotonic-session; do
    judge 0 serializable database.bug=$bug
    judge 1 strict-serializable database.bug=$bug
done
exit $status
