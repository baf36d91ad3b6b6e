"""The histories that the benchmarks measure, and the sizes and forms in which the standard table has each."""

import dataclasses

FORMS = ("rig", "jsonl", "edn")
STANDARD_SIZES = (10**5, 10**6, 10**7)
QUICK_SIZES = (10**4, 10**5)


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    what: str
    settings: tuple[str, ...]  # of the generator, named as in a plan
    valid: bool  # whether strict serializability must hold of it; else it must be refuted, once there is room for it
    most: dict[str, int]  # per form: the largest history of the standard table; a form that is not here is not in it
    quick: bool = False

    def sizes(self, form, wanted):
        return [size for size in wanted if size <= self.most.get(form, 0)]


def _shape(active, appends_per_key):
    return (f"workload.keys.active={active}", f"workload.keys.appends-per-key={appends_per_key}")


SHAPE = _shape(100, 100)
LONG = _shape(100, 5000)
ANY = 10**9
BINARY = {"rig": ANY}


def _broken(name, what, *settings):
    return Case(name, what, settings, False, {"rig": 10**6})


CASES = (
    Case("valid", "100 keys of 100 appends, 1 to 5 operations, 20 processes", SHAPE, True,
         {"rig": ANY, "jsonl": 10**7, "edn": 10**6}, quick=True),
    Case("processes", "the same with 10,000 processes, of which the database works for 20 at a time",
         (*SHAPE, "clients.count=10000", "database.workers=20"), True, {"rig": ANY, "jsonl": 10**6}, quick=True),
    Case("long-lists", "the same with 5,000 appends a key", LONG, True, {"rig": ANY, "jsonl": 10**5}, quick=True),
    Case("write-skew", "snapshot isolation, 100 processes", (*_shape(10, 128), "database.isolation=snapshot-isolation",
         "clients.count=100"), False, {"rig": 10**7, "jsonl": 10**6}, quick=True),
    _broken("lost-updates", "read committed, 100 processes", *_shape(10, 128), "database.isolation=read-committed",
            "clients.count=100"),
    _broken("dirty-reads", "read uncommitted, 100 processes, 2 % aborts", *_shape(10, 128),
            "database.isolation=read-uncommitted", "clients.count=100", "database.abort-rate=2%"),
    _broken("stale-reads", "snapshot isolation that forgets what a session has seen, 100 processes", *_shape(10, 128),
            "database.isolation=snapshot-isolation", "database.bug=stale-read", "clients.count=100"),
    _broken("long-fork", "snapshots that disagree about the order of commits, 100 processes", *_shape(10, 128),
            "database.isolation=snapshot-isolation", "database.bug=long-fork", "clients.count=100"),
    _broken("lost-appends", "acknowledged appends that are gone", *_shape(10, 128), "database.bug=lost-append"),
    _broken("all-unread", "every read shows the empty list", *_shape(10, 128), "shape=blind"),
    _broken("ring-wr", "one cycle through all transactions, of reads from the one before", "shape=ring-wr"),
    _broken("ring-rw", "one cycle through all transactions, of reads that miss the next", "shape=ring-rw"),
)  # fmt: skip

BY_NAME = {case.name: case for case in CASES}
