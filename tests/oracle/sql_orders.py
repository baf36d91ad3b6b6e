#!/usr/bin/env python3
"""Compares the verdict on small random histories of sql with brute force over all serial orders.

    sql_orders.py [--count N] [--seed S]

As predicate_orders.py, which runs the histories, with rows of columns: conditions and assignments are drawn here as trees,
evaluated here with three values, and encoded as the documentation of the numbers says. A version carries the contents that
it has in the order that is tried, so contents that rig works out from the chain of a row are compared with those that the
statements give when they run.
"""

import predicate_orders
from predicate_orders import DELETE, FORMS, INSERT, UPDATE

COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]
COLUMNS = 4
CLASS = 98
MOVES = 1 << 24  # an update that changes the primary key, which no condition asks for


class Version(int):
    contents = None


def code(value):
    return 0 if value is None else value + 10


def payload_of(contents):
    return sum(code(value) << (5 * column) for column, value in enumerate(contents))


def remainder(number):
    """With the sign of the number."""
    return number % 10 if number >= 0 else -(-number % 10)


# ---- three values: True, False, None ----

def negate(truth):
    return None if truth is None else not truth


def both(a, b):
    return False if a is False or b is False else None if a is None or b is None else True


def either(a, b):
    return negate(both(negate(a), negate(b)))


def compare(sign, x, y):
    if x is None or y is None:
        return None
    return {"=": x == y, "<>": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[sign]


# ---- tests: (form, negated, column, ...) ----

def value_of(draw):
    return None if draw.random() < 0.15 else draw.randint(-1, 2)


def draw_test(draw):
    form = draw.choice(["constant", "constant", "column", "sum", "between", "in", "null", "coalesce", "added"])
    column = draw.randrange(4 if form in ("constant", "between", "in", "null") else 3)
    return (form, draw.random() < 0.2, column, draw.choice(COMPARISONS), draw.randrange(3), value_of(draw), value_of(draw))


def truth_of(test, row):
    form, negated, column, sign, other, x, y = test
    mine, its = row[column], row[other]
    if form == "constant":
        truth = compare(sign, mine, x)
    elif form == "column":
        truth = compare(sign, mine, its)
    elif form == "sum":
        truth = compare(sign, mine, None if its is None or x is None else its + x)
    elif form == "coalesce":
        truth = compare(sign, mine, x if its is None else its)
    elif form == "between":
        truth = both(compare(">=", mine, x), compare("<=", mine, y))
    elif form == "in":
        truth = either(compare("=", mine, x), compare("=", mine, y))
    elif form == "added":
        truth = compare("<=", None if mine is None or its is None else mine + its, x)
    else:
        truth = mine is None
    return negate(truth) if negated else truth


def test_bits(test):
    form, negated, column, sign, other, x, y = test
    number = COMPARISONS.index(sign)
    operand = code(x)
    if form in ("between", "in"):
        number, operand = {"between": 6, "in": 7}[form], operand | code(y) << 5
    elif form == "null":
        number, operand = 8, 0
    elif form == "added":
        number, operand = 10, operand | other << 5
    elif form != "constant":
        side = {"column": 1, "sum": 2, "coalesce": 6}[form]
        operand |= other << 5 | side << 7
    return int(negated) | number << 1 | column << 5 | operand << 7


class Condition(int):
    """The number, with its tests: (tests, first two by OR, last by OR, negated)."""
    parts = None


def draw_condition(draw):
    tests = [draw_test(draw) for _ in range(draw.randint(1, 3))]
    parts = (tests, len(tests) > 1 and draw.random() < 0.5, len(tests) > 2 and draw.random() < 0.5, draw.random() < 0.2)
    bits = len(tests) | parts[1] << 2 | parts[2] << 3 | parts[3] << 4
    for at, test in enumerate(tests):
        bits |= test_bits(test) << (5 + 17 * at)
    condition = Condition(-(bits * 100 + 60))
    condition.parts = parts
    return condition


def matches(condition, _row, version):
    if condition == predicate_orders.LAST:
        return True
    tests, first_by_or, last_by_or, negated = condition.parts
    truth = truth_of(tests[0], version.contents)
    if len(tests) > 1:
        truth = (either if first_by_or else both)(truth, truth_of(tests[1], version.contents))
    truth = negate(truth) if negated else truth
    if len(tests) > 2:
        truth = (either if last_by_or else both)(truth, truth_of(tests[2], version.contents))
    return truth is True


# ---- what statements write ----

WRITTEN = {}  # number: contents of an insert, or the assignments of an update


def draw_assignments(draw):
    columns = draw.sample(range(COLUMNS), draw.randint(1, 2))
    return [(column, draw.choice([1, 1, 2, 3, 4, 5, 6, 7] if column < 3 else [1, 1, 6]), draw.randrange(3) if column < 3 else 3, value_of(draw))
            for column in columns]


def assigned(assignment, row):
    column, form, source, constant = assignment
    old, x = row[column], row[source]
    some = x is not None and constant is not None
    return {1: lambda: constant, 2: lambda: x,
            3: lambda: remainder(x + constant) if some else None,
            4: lambda: remainder(x * constant) if some else None,
            5: lambda: remainder(old - x) if old is not None and x is not None else None,
            6: lambda: constant if x is None else x,
            7: lambda: x if some and x < constant else old}[form]()


def written(number, before):
    version = Version(number)
    if before is None:
        version.contents = WRITTEN[number]
        return version
    row = list(before.contents)
    for assignment in WRITTEN[number]:
        row[assignment[0]] = assigned(assignment, before.contents)
    version.contents = tuple(row)
    return version


def number_of(draw, serial, kind):
    payload, action = 0, {"insert": INSERT, "update": UPDATE, "delete": DELETE}[kind]
    what = None
    if kind == "insert":
        what = tuple(value_of(draw) for _ in range(COLUMNS))
        payload = payload_of(what)
    if kind == "update":
        what = draw_assignments(draw)
        for at, (column, form, source, constant) in enumerate(what):
            payload |= (column | form << 2 | source << 5 | code(constant) << 7) << (12 * at)
        payload |= MOVES if serial % 3 == 0 else 0
    number = ((serial << 25) + payload) * 1000 + CLASS * 10 + action
    WRITTEN[number] = what
    return number


def statements(draw, serial):
    found = []
    for _ in range(draw.randint(1, 3)):
        kind = draw.choices(["read", "count", "sum", "insert", "update", "delete"], [10, 1, 1, 6, 5, 2])[0]
        number = None
        if kind not in ("read", *FORMS):
            serial[0] += 1
            number = number_of(draw, serial[0], kind)
        found.append([kind, draw_condition(draw), number])
    return found


predicate_orders.__doc__ = __doc__
predicate_orders.WORKLOAD = "sql"
predicate_orders.LAST = -60
predicate_orders.matches = matches
predicate_orders.written = written
predicate_orders.statements = statements

if __name__ == "__main__":
    predicate_orders.main()
