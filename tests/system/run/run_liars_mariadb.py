"""MariaDB behind a proxy that lies: what rig records of answers that do not fit the statements.

The proxy numbers the packets anew, so that the client library does not see by their numbers that some are lost or added. Modes in MISPLACED change
the order, the number or the form of answers, or add some: no anomaly may show. Modes in CHANGED keep the form of the answers and change what they
say; the database of the proxy is broken:

| mode | may show | must show |
|---|---|---|
| values_swapped: two reads of a transaction get each other's rows | any anomaly of reads | a garbage-read, sooner or later |
| replayed: a whole transaction is answered with the answers to the one before | any anomaly | nothing |
| row_missing: a read is answered without its row | lost updates, internal | an anomaly |
| refused: a COMMIT that was executed is answered with a deadlock | dirty-update, G1a | nothing |
"""

import itertools
import os
import pathlib
import shutil
import sys
import tempfile

import mariadb_server
from liar_proxy import IN_TRANSACTION, MORE_RESULTS, Cut, MyAnswer, MyProxy, my_error
from rig_command import RigTest, main

PLAN = """
name: liar
seed: {seed}
workload: {{type: list-append, transactions: {transactions}, keys: {{active: 6, distribution: exponential, appends-per-key: 64}}}}
clients: {{count: {clients}, reconnect: {{pause: 1ms, max-pause: 20ms}}}}
time-limit: 250s
database:
  driver: mysql
  user: rig
  isolation: serializable
  transaction-timeout: {patience}
  {form}
  cluster: {{hosts: ["127.0.0.1:{port}"]}}
check: {{levels: [serializable], minimum: {{load: 10%, answering: 1%}}}}
report: [json]
"""
FORMS = {"pipeline": "pipeline: true", "statements": "pipeline: false\n  prepared: false", "prepared": "pipeline: false\n  prepared: true"}


def link(answers):
    """Each answer but the last announces a further one."""
    for i, answer in enumerate(answers):
        if answer.kind != "error":
            answer.set_status(MORE_RESULTS, i + 1 < len(answers))


def commits(request):
    return b"COMMIT" in request


# ---- answers that do not fit ----

def missing(random, answers, request):
    if len(answers) < 2:
        return False
    del answers[random.randrange(len(answers))]
    link(answers)
    return True


def missing_at_the_end(random, answers, request):
    """The one before still announces it."""
    if len(answers) < 2:
        return False
    del answers[-1]
    return True


def doubled(random, answers, request):
    i = random.randrange(len(answers))
    answers.insert(i, answers[i].copy())
    link(answers)


def doubled_behind(random, answers, request):
    """Without being announced: it waits for the next request."""
    answers += [answer.copy() for answer in answers]


def doubled_later(random, answers, request):
    """Each answer is that of the statement before. A deadlock ends a transaction at the server, rig reads that one statement
    late, and the statement that it sends meanwhile commits by itself: half of a transaction is there, which is an anomaly
    of this database. So statements one by one have a single client, which meets no deadlock."""
    answers.later = [answers[-1].copy()]


def swapped(random, answers, request):
    places = [i for i in range(len(answers) - 1) if answers[i].kind != answers[i + 1].kind]
    if not places:
        return False
    i = random.choice(places)
    answers[i], answers[i + 1] = answers[i + 1], answers[i]
    link(answers)
    return True


def foreign(random, answers, request):
    pairs = [(i, j) for i, j in itertools.permutations(range(len(answers)), 2) if answers[i].kind != answers[j].kind]
    if not pairs:
        return False
    i, j = random.choice(pairs)
    answers[i] = answers[j].copy()
    link(answers)
    return True


def wrong_status(random, answers, request):
    answer = random.choice(answers)
    if answer.kind == "error":
        return False
    answer.set_status(IN_TRANSACTION, not answer.status & IN_TRANSACTION)
    return True


def not_announced(random, answers, request):
    if len(answers) < 2 or answers[0].kind == "error":
        return False
    answers[random.randrange(len(answers) - 1)].set_status(MORE_RESULTS, False)
    return True


def announced_in_vain(random, answers, request):
    if answers[-1].kind == "error":
        return False
    answers[-1].set_status(MORE_RESULTS, True)
    return True


def error_for_answer(random, answers, request):
    """The server goes on, and the answers with it."""
    if commits(request) and len(answers) < 2:
        return False
    i = random.randrange(max(1, len(answers) - 1))
    answers[i] = random.choice([my_error(), my_error(1213, b"40001"), my_error(1290), my_error(1205)])
    return True


def error_after_commit(random, answers, request):
    if not commits(request) or answers[-1].kind == "error":
        return False
    answers[-1].set_status(MORE_RESULTS, True)
    answers.append(random.choice([my_error(), my_error(1213, b"40001")]))
    return True


def error_behind_commit(random, answers, request):
    answers.append(random.choice([my_error(), my_error(1213, b"40001")]))
    return True


def packet_missing(random, answers, request):
    """Without the one behind the columns: the client library takes the row in its place, so that the row is missing."""
    reads = [answer for answer in answers if answer.kind == "rows"]
    if not reads:
        return False
    answer = random.choice(reads)
    del answer[random.choice([0, 1, len(answer) - 1])]
    return True


def packet_doubled(random, answers, request):
    answer = random.choice(answers)
    i = random.randrange(len(answer))
    answer.insert(i, answer[i])


def truncated(random, answers, request):
    whole, number = b"", 1
    for packet in (packet for answer in answers for packet in answer):
        whole += len(packet).to_bytes(3, "little") + bytes([number & 255]) + packet
        number += 1
    raise Cut(whole[:random.randrange(len(whole))])


def nothing(random, answers, request):
    """No lie: rig may not take the proxy itself, or any answer of the server, for one."""
    return False


MISPLACED = [missing, missing_at_the_end, doubled, doubled_behind, doubled_later, swapped, foreign, wrong_status, not_announced, announced_in_vain,
             error_for_answer, error_after_commit, error_behind_commit, packet_missing, packet_doubled, truncated, nothing]
SLOW = {missing: 12, missing_at_the_end: 8, announced_in_vain: 8, packet_missing: 8, packet_doubled: 12, not_announced: 12}  # lies a run: rig waits
TEXT_ALONE = {doubled_later}  # libmariadb crashes where the answer to a prepared statement has other columns than it has
IN_A_PIPELINE = {missing, missing_at_the_end, swapped, foreign, not_announced}  # they need several answers at a time


# ---- answers that say something else ----

def rows_of(answers):
    return [answer for answer in answers if answer.kind == "rows" and len(answer) == 5]


def values_swapped(random, answers, request):
    reads = rows_of(answers)
    if len(reads) < 2:
        return False
    first, second = random.sample(reads, 2)
    first[3], second[3] = second[3], first[3]
    return True


def replayed(random, answers, request):
    """The next request may get the whole answer of this one, where a pipeline of the same form is sent."""
    answers.later = [answer.copy() for answer in answers]


def row_missing(random, answers, request):
    reads = rows_of(answers)
    if not reads:
        return False
    del random.choice(reads)[3]
    return True


def refused(random, answers, request):
    if not commits(request) or answers[-1].kind == "error":
        return False
    answers[-1] = my_error(1213, b"40001")
    return True


class Liars(RigTest):
    def run_behind(self, lie, form, seed, transactions=250, share=0.05):
        clients = 1 if lie is doubled_later and form == "statements" else 6
        with MyProxy(SERVER.port, lie, seed, share, SLOW.get(lie, 1 << 30)) as proxy:
            plan = self.plan(PLAN.format(seed=seed, patience="60s" if lie is nothing else "1s", transactions=transactions, clients=clients, form=FORMS[form],
                                         port=proxy.port))
            done = self.rig("run", plan, "-o", f"out-{form}-{seed}")
            self.assertIn(done.status, (0, 1, 2), repr(done))
            return self.results(f"out-{form}-{seed}"), done, proxy.told

    def misplaced(self, lie):
        for seed, form in enumerate(FORMS, 1):
            if (lie in IN_A_PIPELINE and "pipeline: false" in FORMS[form]) or (lie in TEXT_ALONE and form == "prepared"):
                continue
            with self.subTest(form=form):
                results, done, told = self.run_behind(lie, form, seed)
                self.assertIsNot(results["valid"], False, repr(done))
                self.assertEqual(results["anomalies"], {}, repr(done))
                counted = results["history"]
                if lie is nothing:
                    self.assertEqual(counted["info"], 0, repr(done))
                else:
                    self.assertGreaterEqual(told, 3)
                print(f"{lie.__name__}, {form}: {told} lies; {counted['ok']} ok, {counted['fail']} fail, {counted['info']} info", file=sys.stderr)

    def test_swapped_values_are_found(self):
        results, done, told = self.run_behind(values_swapped, "pipeline", 1, transactions=600, share=0.2)
        self.assertGreater(told, 5)
        self.assertIs(results["valid"], False, repr(done))

    def test_missing_rows_are_found(self):
        results, done, told = self.run_behind(row_missing, "pipeline", 1, transactions=600)
        self.assertGreater(told, 5)
        self.assertIs(results["valid"], False, repr(done))

    def test_lies_that_may_show(self):
        for lie, form in ((refused, "pipeline"), (refused, "statements"), (replayed, "pipeline"), (replayed, "statements")):
            with self.subTest(lie=lie.__name__, form=form):
                _, _, told = self.run_behind(lie, form, 1 + (form == "statements") + 2 * (lie is replayed))
                self.assertGreater(told, 3)


for given in MISPLACED:
    def test(self, lie=given):
        self.misplaced(lie)
    setattr(Liars, f"test_{given.__name__}", test)

if __name__ == "__main__":
    if not mariadb_server.is_installed():
        print("SKIPPED: no MariaDB server is installed (apt-get install mariadb-server)")
        sys.exit(77)
    place = pathlib.Path(tempfile.mkdtemp(prefix="rig-liars-"))
    os.chmod(place, 0o755)
    SERVER = mariadb_server.Server(place / "server")
    try:
        main()
    finally:
        SERVER.stop()
        shutil.rmtree(place, ignore_errors=True)
