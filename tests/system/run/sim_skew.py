"""A plan whose load shows write skew on the simulated database, and an entry of the library for it."""

PLAN = """
name: skew
workload: {type: list-append, transactions: 3000, keys: {active: 4}}
clients: {count: 8}
database: {driver: sim, isolation: snapshot-isolation}
check: {levels: [serializable]}
report: [json]
"""
ENTRY = """
database: sim
level: snapshot isolation
shows: write skew
page: none.md
typical: 1s
within: 1m
plan: ../plan.yaml
expect:
  anomalies: [G2-item]
  keeps: [snapshot-isolation]
"""
