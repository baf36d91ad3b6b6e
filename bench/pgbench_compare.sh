#!/usr/bin/env bash
# rig against pgbench on one PostgreSQL: the same statements, the same mix, the same clients, in turn.
#
#   bench/pgbench_compare.sh [build/release/rig] [rounds]
#
# Environment: CLIENTS (16), TRANSACTIONS (20000 a run), SYNCHRONOUS_COMMIT (on), PIPELINE (true; false: one round trip a
# statement).
#
# Both sides run transactions of four operations, each a read or an upsert of a list kept as text with even chance, on
# 2000 keys chosen uniformly, at READ COMMITTED, with prepared statements. Each run starts with an empty table. The side
# that goes first alternates; each pair gives a ratio, and the median of the ratios is the result.
set -euo pipefail

rig=$(realpath "${1:-build/release/rig}")
rounds=${2:-7}
clients=${CLIENTS:-16}
transactions=${TRANSACTIONS:-20000}
synchronous_commit=${SYNCHRONOUS_COMMIT:-on}
pipeline=${PIPELINE:-true}
keys=2000
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -1)
port=$((20000 + RANDOM % 20000))
work=$(mktemp -d)
chmod 755 "$work"

as_server() {
    if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

stop() {
    as_server "$bin/pg_ctl" -D "$work/data" -m immediate -w stop >"$work/stop.log" 2>&1 || true
    rm -rf "$work"
}
trap stop EXIT

mkdir "$work/data"
[ "$(id -u)" != 0 ] || chown postgres "$work/data"
as_server "$bin/initdb" -D "$work/data" -U postgres -A trust -N >"$work/initdb.log"
cat >>"$work/data/postgresql.conf" <<END
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = ''
max_connections = $((clients + 20))
deadlock_timeout = 10ms
synchronous_commit = $synchronous_commit
END
as_server "$bin/pg_ctl" -D "$work/data" -l "$work/data/server.log" -w start >"$work/start.log"
psql=(psql -X -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U postgres)
"${psql[@]}" -c 'CREATE SCHEMA rig_bench' -c 'CREATE TABLE rig_bench.list (k bigint PRIMARY KEY, v text NOT NULL)'

# One script a pattern of reads and writes; sixteen of them with equal weight are the mix.
scripts=()
for pattern in $(seq 0 15); do
    script=$work/$pattern.sql
    {
        for op in 0 1 2 3; do
            echo "\\set k$op random(0, $((keys - 1)))"
            echo "\\set v$op random(1, 300)"
        done
        [ "$pipeline" != true ] || echo '\startpipeline'
        echo 'BEGIN ISOLATION LEVEL READ COMMITTED;'
        for op in 0 1 2 3; do
            if [ $((pattern >> op & 1)) = 1 ]; then
                echo "SELECT v FROM rig_bench.list WHERE k = :k$op::bigint;"
            else
                echo "INSERT INTO rig_bench.list AS t (k, v) VALUES (:k$op::bigint, :v$op::text)" \
                    "ON CONFLICT (k) DO UPDATE SET v = t.v || ',' || excluded.v;"
            fi
        done
        echo 'COMMIT;'
        [ "$pipeline" != true ] || echo '\endpipeline'
    } >"$script"
    scripts+=(-f "$script@1")
done

cat >"$work/plan.yaml" <<END
name: compare
workload:
  transactions: $transactions
  operations: {min: 4, max: 4}
  reads: 50%
  keys: {active: $keys, distribution: uniform, appends-per-key: 1000000}
  final-reads: none
clients: {count: $clients}
database:
  driver: postgres
  isolation: read-committed
  pipeline: $pipeline
  user: postgres
  dbname: postgres
  cluster: {hosts: ["127.0.0.1:$port"]}
check: {levels: [read-committed]}
report: [json]
END

settle() {
    "${psql[@]}" -c 'CHECKPOINT'
}

run_pgbench() {
    "${psql[@]}" -c 'TRUNCATE rig_bench.list'
    settle
    pgbench -n -h 127.0.0.1 -p "$port" -U postgres -M prepared -c "$clients" -j 2 \
        -t $((transactions / clients)) --max-tries=1 "${scripts[@]}" postgres 2>"$work/pgbench.err" |
        sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}

run_rig() {
    settle
    rm -rf "$work/out"
    "$rig" run "$work/plan.yaml" -o "$work/out" --quiet >"$work/rig.out" 2>&1 || { cat "$work/rig.out" >&2; return 1; }
    python3 - "$work/out/results.json" <<'END'
import json, sys
results = json.load(open(sys.argv[1]))
print(round(results["history"]["ok"] / results["run"]["load_s"], 1))
END
}

echo "clients $clients, $transactions transactions a run, synchronous_commit $synchronous_commit, pipeline $pipeline"
run_rig >/dev/null
run_pgbench >/dev/null
ratios=()
for round in $(seq "$rounds"); do
    if [ $((round % 2)) = 1 ]; then
        a=$(run_rig) b=$(run_pgbench)
    else
        b=$(run_pgbench) a=$(run_rig)
    fi
    ratio=$(python3 -c "print(f'{$a / $b:.3f}')")
    ratios+=("$ratio")
    echo "round $round: rig $a/s, pgbench $b/s, ratio $ratio"
done
python3 -c "import statistics, sys; print('median ratio', statistics.median(map(float, sys.argv[1:])))" "${ratios[@]}"
