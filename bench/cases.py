"""The histories that the benchmarks measure, and their sizes and forms in the standard table."""

import dataclasses

FORMS = ("rig", "jsonl", "edn")
STANDARD_SIZES = (10**5, 10**6, 10**7)
QUICK_SIZES = (10**4, 10**5)


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    what: str
    settings: tuple[str, ...]  # of the generator, named as in a plan
    valid: bool  # whether strict serializability must hold; otherwise large histories must refute it
    most: dict[str, int]  # per form: the largest history of the standard table; a missing form is not in it
    quick: bool = False
    check: tuple[str, ...] = ()  # options of `rig check`
    phases: bool = True  # can be measured in isolation

    def sizes(self, form, wanted):
        return [size for size in wanted if size <= self.most.get(form, 0)]


def _shape(active, appends_per_key):
    return (f"workload.keys.active={active}", f"workload.keys.appends-per-key={appends_per_key}",
            "workload.keys.distribution=uniform")  # fmt: skip


SHORT = _shape(100, 100)
LONG = _shape(100, 5000)
MANY = ("clients.count=10000", "database.workers=20")
REGISTERS = (*SHORT, "workload.type=rw-register")
PREDICATES = ("workload.type=predicate", "workload.statements.updates=30%", "workload.statements.deletes=20%",
              "workload.operations.max=4", "workload.keys.active=10", "workload.keys.appends-per-key=64",
              "clients.count=16", "database.workers=3", "database.certificate=full")  # fmt: skip
SNAPSHOT = "database.isolation=snapshot-isolation"
ANY = 10**9  # as far as requested


def _broken(name, what, *settings, most=10**6):
    return Case(name, what, settings, False, {"rig": most})


CASES = (
    Case("valid", "serializable, 100 keys of 100 appends at a time, 1 to 5 operations, 20 processes", SHORT, True,
         {"rig": ANY, "jsonl": 10**7, "edn": 10**6}, quick=True),
    Case("processes", "the same with 10,000 processes, of which the database works for 20 at a time", (*SHORT, *MANY),
         True, {"rig": 10**7, "jsonl": 10**6}, quick=True),
    Case("long-lists", "the same as valid with 5,000 appends a key", LONG, True, {"rig": 10**7, "jsonl": 10**5},
         quick=True),
    Case("write-skew", "snapshot isolation", (*SHORT, SNAPSHOT), False, {"rig": 10**7, "jsonl": 10**6}, quick=True),
    Case("registers", "registers in place of lists, the rest as in valid; only the initial state orders versions",
         REGISTERS, True, {"rig": 10**7, "jsonl": 10**5}, phases=False),
    Case("predicates", "rows inserted, updated, deleted and read by conditions, in tables of 64 statements that write; what "
         "the database itself says of its commits and snapshots is compared", PREDICATES, True, {"rig": 10**6},
         phases=False),
    Case("registers-ordered", "the same, assumed to be linearizable, and read before they are written", REGISTERS, True,
         {"rig": 10**7}, check=("--assume", "wfr-keys,linearizable-keys"), phases=False),
    _broken("write-skew-processes", "the same with 10,000 processes", *SHORT, *MANY, SNAPSHOT),
    _broken("write-skew-long", "the same with 5,000 appends a key", *LONG, SNAPSHOT),
    _broken("lost-updates", "read committed", *SHORT, "database.isolation=read-committed"),
    _broken("dirty-reads", "read uncommitted, 2 % aborts", *SHORT, "database.isolation=read-uncommitted",
            "database.abort-rate=2%"),
    _broken("stale-reads", "one transaction in a thousand reads an old snapshot", *SHORT, "database.bug=stale-read",
            "database.bug-rate=0.1%"),
    _broken("long-fork", "two sites that order commits each in its own way", *SHORT, "database.bug=long-fork"),
    _broken("lost-appends", "one append in a thousand is acknowledged and gone", *SHORT, "database.bug=lost-append",
            "database.bug-rate=0.1%"),
    _broken("all-unread", "every read shows the empty list", *SHORT, "shape=blind"),
    _broken("ring-wr", "one cycle through all transactions, of reads from the one before", "shape=ring-wr",
            most=10**5),
    _broken("ring-rw", "one cycle through all transactions, of reads that miss the next", "shape=ring-rw",
            most=10**5),
)  # fmt: skip

BY_NAME = {case.name: case for case in CASES}
