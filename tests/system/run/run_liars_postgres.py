"""PostgreSQL behind a proxy that lies: what rig records of answers that do not fit the statements.

Modes in MISPLACED change the order, the number or the form of answers, or add messages: the answers contradict each other, and a real server sends
none of them. No anomaly may show, because after an answer out of step nothing is evidence, and an outcome that contradicts another answer is unknown.

Modes in CHANGED keep the form of the answers and change what they say, or what the server executes. The database of the proxy is broken:

| mode | may show | must show |
|---|---|---|
| rows_swapped: two reads of a transaction get each other's rows | any anomaly of reads | a garbage-read, sooner or later |
| refused: a COMMIT that was executed is answered with a serialization failure | dirty-update, G1a | nothing |
| replayed: a whole transaction is answered with the answers to the one before | any anomaly | nothing |
| forgotten: COMMIT is executed as ROLLBACK and acknowledged | lost updates | an anomaly |
| twice: an acknowledged write is executed twice | duplicate-elements | an anomaly |
"""

import itertools
import os
import pathlib
import shutil
import sys
import tempfile

import pg_server
from liar_proxy import Cut, PgAnswer, PgProxy, pg_error, pg_message
from rig_command import RigTest, main

PLAN = """
name: liar
seed: {seed}
workload: {{type: list-append, transactions: {transactions}, keys: {{active: 6, distribution: exponential, appends-per-key: 64}}}}
clients: {{count: 6, reconnect: {{pause: 1ms, max-pause: 20ms}}}}
time-limit: 250s
database:
  driver: postgres
  user: postgres
  password: {secret}
  isolation: repeatable-read
  transaction-timeout: {patience}
  {form}
  cluster: {{hosts: ["127.0.0.1:{port}"]}}
check: {{levels: [snapshot-isolation], minimum: {{load: 10%, answering: 1%}}}}
report: [json]
"""
FORMS = {"pipeline": "pipeline: true", "unprepared": "pipeline: true\n  prepared: false",
         "statements": "pipeline: false", "simple": "pipeline: false\n  prepared: false"}


def any_answer(random, answers, fits=lambda answer: True):
    """The place of an answer, or None."""
    places = [i for i, answer in enumerate(answers) if answer and fits(answer)]
    return random.choice(places) if places else None


def is_statement(answer):
    return answer.kind in (b"SELECT", b"INSERT", b"UPDATE")


# ---- answers that do not fit ----

def missing(random, answers, ready):
    del answers[any_answer(random, answers)]


def doubled(random, answers, ready):
    i = any_answer(random, answers)
    answers.insert(i, PgAnswer(answers[i]))


def doubled_with_ready(random, answers, ready):
    ready += [message for answer in answers for message in answer] + ready


def doubled_later(random, answers, ready):
    answers.later = [*answers[-1], *ready]


def swapped(random, answers, ready):
    places = [i for i in range(len(answers) - 1) if answers[i].kind != answers[i + 1].kind]
    if not places:
        return False
    i = random.choice(places)
    answers[i], answers[i + 1] = answers[i + 1], answers[i]
    return True


def foreign(random, answers, ready):
    pairs = [(i, j) for i, j in itertools.permutations(range(len(answers)), 2) if answers[i].kind != answers[j].kind]
    if not pairs:
        return False
    i, j = random.choice(pairs)
    answers[i] = PgAnswer(answers[j])
    return True


def wrong_tag(random, answers, ready):
    i = any_answer(random, answers, lambda answer: answer.kind != b"")
    if i is None:
        return False
    tags = [b"SELECT 1", b"SELECT 7", b"INSERT 0 1", b"BEGIN", b"COMMIT", b"ROLLBACK", b"", b"SELECT", b"COMMIT 1", b"\xff"]
    tag = random.choice([tag for tag in tags if tag != answers[i].tag])
    answers[i][-1] = pg_message(b"C", tag + b"\0")
    return True


def rolled_back(random, answers, ready):
    i = any_answer(random, answers, lambda answer: answer.kind == b"COMMIT")
    if i is None:
        return False
    answers[i][-1] = pg_message(b"C", b"ROLLBACK\0")
    return True


def wrong_status(random, answers, ready):
    ready[0] = pg_message(b"Z", random.choice([s for s in (b"I", b"T", b"E", b"x") if s != ready[0][5:]]))


def error_for_answer(random, answers, ready):
    i = any_answer(random, answers, is_statement)
    if i is None:
        return False
    answers[i][-1] = pg_error(random.choice([b"40001", b"XX000", b"57014", b"23505"]))
    return True


def error_and_status(random, answers, ready):
    if error_for_answer(random, answers, ready) is False:
        return False
    ready[0] = pg_message(b"Z", b"E")
    return True


def error_then_cut(random, answers, ready):
    i = any_answer(random, answers, is_statement)
    if i is None:
        return False
    answers[i][-1] = pg_error(b"40001")
    raise Cut(b"".join(b"".join(answer) for answer in answers[:i + 1]))


def error_then_ready(random, answers, ready):
    """As if the rest had been skipped, except the status after a COMMIT."""
    i = any_answer(random, answers, is_statement)
    if i is None or answers[-1].kind != b"COMMIT":
        return False
    answers[i][-1] = pg_error(b"40001")
    del answers[i + 1:]
    return True


def error_added(random, answers, ready):
    answers.insert(random.randrange(len(answers) + 1), PgAnswer([pg_error(b"40001")]))


def error_after_commit(random, answers, ready):
    i = any_answer(random, answers, lambda answer: answer.kind == b"COMMIT")
    if i is None:
        return False
    answers[i].append(pg_error(random.choice([b"40001", b"XX000", b"57P01"])))
    return True


def notices(random, answers, ready):
    for answer in answers:
        answer.insert(random.randrange(len(answer)), pg_error(b"01000", b"WARNING", kind=b"N"))


def truncated(random, answers, ready):
    whole = b"".join(b"".join(answer) for answer in answers) + ready[0]
    raise Cut(whole[:random.randrange(len(whole))])


def unknown_message(random, answers, ready):
    answer = answers[any_answer(random, answers)]
    answer.insert(random.randrange(len(answer) + 1), pg_message(random.choice([b"x", b"@", b"\0", b"\xff"]), b"abc"))


def message_doubled(random, answers, ready):
    answer = answers[any_answer(random, answers)]
    i = random.randrange(len(answer))
    answer.insert(i, answer[i])


def message_missing(random, answers, ready):
    answer = answers[any_answer(random, answers)]
    del answer[random.randrange(len(answer))]


def messages_shuffled(random, answers, ready):
    messages = [message for answer in answers for message in answer]
    i = random.randrange(max(1, len(messages) - 1))
    part = messages[i:i + 3]
    random.shuffle(part)
    answers[:] = [PgAnswer(messages[:i] + part + messages[i + 3:])]


def ready_doubled(random, answers, ready):
    ready += ready


def ready_early(random, answers, ready):
    answers.insert(random.randrange(len(answers)), PgAnswer([pg_message(b"Z", random.choice([b"I", b"T"]))]))


def ready_missing(random, answers, ready):
    del ready[:]


def copy_begins(random, answers, ready):
    answer = answers[any_answer(random, answers)]
    answer.insert(random.randrange(len(answer) + 1), pg_message(random.choice([b"G", b"H", b"W"]), b"\0\0\0"))


def nothing(random, answers, ready):
    """No lie: rig may not take the proxy itself, or any answer of the server, for one."""
    return False


MISPLACED = [missing, doubled, doubled_with_ready, doubled_later, swapped, foreign, wrong_tag, rolled_back, wrong_status, error_for_answer,
             error_and_status, error_then_cut, error_then_ready, error_added, error_after_commit, notices, truncated, unknown_message, message_doubled,
             message_missing, messages_shuffled, ready_doubled, ready_early, ready_missing, copy_begins, nothing]
SLOW = {ready_missing: 8, message_missing: 12, missing: 12}  # lies a run: rig waits for its time-out
IN_A_PIPELINE = {swapped, foreign, error_then_ready}  # they need several answers at a time


# ---- answers that say something else ----

def rows_swapped(random, answers, ready):
    reads = [answer for answer in answers if answer.kind == b"SELECT" and answer.rows]
    if len(reads) < 2:
        return False
    first, second = random.sample(reads, 2)
    i, j = first.rows[0], second.rows[0]
    first[i], second[j] = second[j], first[i]
    return True


def replayed(random, answers, ready):
    """The next request may get the whole answer of this one, where a pipeline of the same form is sent."""
    answers.later = [message for answer in answers for message in answer] + ready


def refused(random, answers, ready):
    i = any_answer(random, answers, lambda answer: answer.kind == b"COMMIT")
    if i is None:
        return False
    answers[i][-1] = pg_error(b"40001")
    return True


def forgotten(random, query):
    return (b"ROLLBACK", b"COMMIT") if query.upper().startswith(b"COMMIT") else None


def twice(random, query):
    return (query + b"; " + query, b"INSERT 0 1") if query.upper().startswith(b"INSERT") else None


class Liars(RigTest):
    def run_behind(self, lie, form, seed, rewrite=None, transactions=250, share=0.05):
        with PgProxy(SERVER.port, lie, seed, share, SLOW.get(lie, 1 << 30)) as proxy:
            proxy.rewrite = rewrite
            plan = self.plan(PLAN.format(seed=seed, patience="60s" if lie is nothing else "1s", transactions=transactions, secret=SERVER.secret, form=FORMS[form], port=proxy.port))
            done = self.rig("run", plan, "-o", f"out-{form}-{seed}", env=self.forgiven_leaks(lie))
            self.assertIn(done.status, (0, 1, 2), repr(done))
            return self.results(f"out-{form}-{seed}"), done, proxy.told

    def forgiven_leaks(self, lie):
        """libpq overwrites the result that it has begun when a copy begins inside it: a leak of its own, under a leak sanitizer."""
        suppressions = self.folder / "leaks.txt"
        suppressions.write_text("leak:PQisBusy\n")
        return {"LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0"} if lie is copy_begins else {}

    def misplaced(self, lie):
        for seed, form in enumerate(FORMS, 1):
            if lie in IN_A_PIPELINE and "pipeline: false" in FORMS[form]:
                continue
            with self.subTest(form=form):
                results, done, told = self.run_behind(lie, form, seed)
                if lie is not nothing and told < 3:  # too few were chosen at random
                    results, done, told = self.run_behind(lie, form, seed + 100, transactions=1000)
                self.assertIn(done.status, (0, 2), repr(done))
                self.assertIsNot(results["valid"], False, repr(done))
                counted = results["history"]
                if lie is nothing:
                    self.assertEqual(counted["info"], 0, repr(done))
                else:
                    self.assertGreaterEqual(told, 3)
                print(f"{lie.__name__}, {form}: {told} lies; {counted['ok']} ok, {counted['fail']} fail, {counted['info']} info", file=sys.stderr)

    def test_swapped_rows_are_found(self):
        results, done, told = self.run_behind(rows_swapped, "pipeline", 1, transactions=600, share=0.2)
        self.assertGreater(told, 5)
        self.assertIs(results["valid"], False, repr(done))

    def test_lies_that_may_show(self):
        for lie, form in ((refused, "pipeline"), (refused, "simple"), (replayed, "pipeline"), (replayed, "simple")):
            with self.subTest(lie=lie.__name__, form=form):
                _, _, told = self.run_behind(lie, form, 1 + (form == "simple") + 2 * (lie is replayed))
                self.assertGreater(told, 3)

    def test_forgotten_commits_are_found(self):
        results, done, told = self.run_behind(nothing, "simple", 1, rewrite=forgotten, transactions=600)
        self.assertGreater(told, 5)
        self.assertIs(results["valid"], False, repr(done))

    def test_writes_executed_twice_are_found(self):
        results, done, told = self.run_behind(nothing, "simple", 1, rewrite=twice, transactions=600)
        self.assertGreater(told, 5)
        self.assertIs(results["valid"], False, repr(done))


for given in MISPLACED:
    def test(self, lie=given):
        self.misplaced(lie)
    setattr(Liars, f"test_{given.__name__}", test)

if __name__ == "__main__":
    if pg_server.binaries() is None:
        print("SKIPPED: PostgreSQL is not installed")
        sys.exit(77)
    place = pathlib.Path(tempfile.mkdtemp(prefix="rig-liars-"))
    os.chmod(place, 0o755)
    SERVER = pg_server.Server(place / "server")
    try:
        main()
    finally:
        SERVER.stop()
        shutil.rmtree(place, ignore_errors=True)
