#!/usr/bin/env python3
"""Compares the verdict on small random histories of sql, with statements of two reads, with brute force over all serial orders.

    sql_form_orders.py [--count N] [--seed S]

As sql_orders.py, with INSERT ... SELECT, updates with a subquery, left and inner joins, NOT EXISTS, limits, reads that skip rows, and upserts.
A result has the rows of the statement's own read and then, with negative ids, those of its further one, as the drivers have them.

The unique index of an upsert looks outside of any snapshot. So an order explains an upsert by what it did: it inserted its row, or it changed
the row that it shows, at the version that it shows. Histories in which two upserts insert
one unique value, or in which an upsert did not answer, are left out.
"""

import itertools

import predicate_orders
import sql_orders
from predicate_orders import FORMS, INSERT, UPDATE
from sql_orders import Version, code, matches, remainder

SOURCE, PARTNERS, ABSENT, SKIPS, LIMIT, PAIRS, UPSERT = 1, 2, 3, 4, 5, 6, 7
JOINS, ALONE = (PARTNERS, ABSENT, PAIRS), (SKIPS, LIMIT)  # clauses of two reads with a common value, and of one read
COUNT, GREATEST, LEAST = 20, 21, 22
CLASS = 98


class Further(int):
    """The condition of the own read, with the further read: (clause, condition, own column, further column)."""
    parts = further = None


def clause_number(kind, column=0, partner=0):
    return -(((column * 10 + partner) * 100 + kind) * 10 + 9)


# ---- subqueries ----

def subquery(which, versions):
    if which == COUNT:
        return len(versions) % 10
    return (max if which == GREATEST else min)((version % 7 for version in versions), default=None)


def sourced(number, before, versions):
    """The version that a statement with subqueries gives a row."""
    version = Version(number)
    what = sql_orders.WRITTEN[number]

    def value(of):
        return subquery(of[1], versions) if isinstance(of, tuple) else of

    if before is None:
        version.contents = tuple(map(value, what))
        return version
    row = list(before.contents)
    for column, form, source, constant in what:
        row[column] = sql_orders.assigned((column, form, source, value(constant)), before.contents)
    version.contents = tuple(row)
    return version


def code_of(value):
    return value[1] if isinstance(value, tuple) else code(value)


def insert_select_number(draw, serial):
    what = tuple(("subquery", draw.choice([COUNT, GREATEST, LEAST])) if column < 3 and (column == 0 or draw.random() < 0.5) else
                 sql_orders.value_of(draw) for column in range(4))
    payload = sum(code_of(value) << (5 * column) for column, value in enumerate(what))
    number = ((serial << 25) + payload) * 1000 + CLASS * 10 + INSERT
    sql_orders.WRITTEN[number] = what
    return number


def update_select_number(draw, serial):
    first, second = draw.sample(range(3), 2)
    what = [(first, draw.choice([1, 3]), draw.randrange(3), ("subquery", draw.choice([COUNT, GREATEST, LEAST])))]
    if draw.random() < 0.5:
        what.append((second, draw.choice([1, 2, 3]), draw.randrange(3), sql_orders.value_of(draw)))
    payload = sum((column | form << 2 | source << 5 | code_of(constant) << 7) << (12 * at)
                  for at, (column, form, source, constant) in enumerate(what))
    number = ((serial << 25) + payload) * 1000 + CLASS * 10 + UPDATE
    sql_orders.WRITTEN[number] = what
    return number


# ---- upserts ----

UNIQUE = {}  # number of an insert: its unique value
ALL = -60  # the condition of an upsert's read


def upsert_numbers(draw, serial):
    """The insert, and what is done to a row that is there."""
    what = tuple(sql_orders.value_of(draw) for _ in range(4))
    unique = draw.choice([0, 1])
    insert = ((serial[0] << 30) + sql_orders.payload_of(what) + (code(unique) << 20)) * 1000 + 970 + INSERT
    sql_orders.WRITTEN[insert], UNIQUE[insert] = what, unique
    serial[0] += 1
    column, constant = draw.randrange(4), sql_orders.value_of(draw)
    source = 3 if column == 3 else 0
    update = ((serial[0] << 25) + (column | 1 << 2 | source << 5 | code(constant) << 7)) * 1000 + CLASS * 10 + UPDATE
    sql_orders.WRITTEN[update] = [(column, 1, source, constant)]
    return insert, update


def upsert(rows, numbers):
    insert, update = numbers
    for row, version in rows.items():
        if UNIQUE.get(row) == UNIQUE[insert]:
            rows[row] = sourced(update, version, [])
            return [row, version]
    rows[insert] = sourced(insert, None, [])
    return []


def upsert_as_shown(rows, numbers, shown):
    """What the answer says; whether it can be."""
    insert, update = numbers
    if not shown:
        rows[insert] = sourced(insert, None, [])
        return True
    row, version = shown
    if rows.get(row) != version:
        return False
    rows[row] = sourced(update, rows[row], [])
    return True


def is_about_constraints(txns, results, shown):
    """Whether two upserts insert rows with one value, or it is not known what one of them did."""
    if any(kind == "upsert" and came is not None and shown[i][at] is None
           for i, of in enumerate(results) for at, ((kind, _, _), came) in enumerate(zip(txns[i], of))):
        return True
    values = [UNIQUE[number[0]] for txn, of in zip(txns, results) for (kind, _, number), shown in zip(txn, of) if kind == "upsert" and not shown]
    return len(values) != len(set(values))


# ---- statements ----

def values_of(rows, own, column):
    """The values in the column of these rows."""
    return {rows[row].contents[column] for row in own} - {None}


def partners(rows, further, values):
    _, condition, _, column = further
    return [row for row, version in sorted(rows.items()) if matches(condition, row, version) and version.contents[column] in values]


def limited(rows, found, further):
    """The first rows by the column and the id."""
    _, _, column, limit = further
    return sorted(sorted((row for row in found if rows[row].contents[column] is not None), key=lambda row: (rows[row].contents[column], row))[:limit])


def pairs_of(rows, own, further=()):
    return [number for row in own for number in (row, rows[row])] + [number for row in further for number in (-row, rows[row])]


def apply(rows, statement):
    kind, condition, number = statement
    if kind == "upsert":
        return upsert(rows, number)
    if kind == "insert-select":
        own = [row for row, version in sorted(rows.items()) if matches(condition, row, version)]
        shown = pairs_of(rows, own)
        rows[number] = sourced(number, None, [rows[row] for row in own])
        return shown
    if not isinstance(condition, Further):
        return predicate_orders.plain_apply(rows, statement)
    clause, asked, column, _ = condition.further
    own = [row for row, version in sorted(rows.items()) if matches(condition, row, version)]
    more = []
    if clause == SOURCE:
        more = [row for row, version in sorted(rows.items()) if matches(asked, row, version)] if own else []
    elif clause == PARTNERS:
        more = partners(rows, condition.further, values_of(rows, own, column))
    elif clause == ABSENT:
        own = [row for row in own if not partners(rows, condition.further, values_of(rows, [row], column))]
    elif clause == PAIRS:
        more = partners(rows, condition.further, values_of(rows, own, column))
        own = [row for row in own if partners(rows, condition.further, values_of(rows, [row], column))]
    elif clause == LIMIT:
        own = limited(rows, own, condition.further)
    shown = pairs_of(rows, own, more)
    versions = [rows[row] for row in more]
    for row in own:
        if kind == "update":
            rows[row] = sourced(number, rows[row], versions)
        if kind == "delete":
            del rows[row]
    return shown


def skips(shown, came):
    """Whether a read that may skip rows shows some of those that it would."""
    return set(zip(shown[::2], shown[1::2])) <= set(zip(came[::2], came[1::2]))


def is_as_shown(statement, shown, came):
    _, condition, _ = statement
    if shown is None:
        return True
    if isinstance(condition, Further) and condition.further[0] == SKIPS:
        return skips(shown, came)
    return came == shown


def apply_items(rows, own, statement, shown):
    """Runs a statement whose reads may miss rows of others, and gives whether it shows what it must."""
    kind, condition, number = statement
    pairs = list(zip(shown[::2], shown[1::2]))
    mains = [(row, version) for row, version in pairs if row > 0]
    more = [(-row, version) for row, version in pairs if row < 0]
    if any(rows.get(row) != version for row, version in mains + more):
        return False
    further = condition.further if isinstance(condition, Further) else None
    clause = further[0] if further else None
    seen, seen_more = {row for row, _ in mains}, {row for row, _ in more}
    if any(not matches(condition, row, rows[row]) for row in seen):
        return False
    found = {row for row in seen | own & rows.keys() if matches(condition, row, rows[row])}
    if clause == LIMIT:
        return seen == set(limited(rows, found, further))
    if clause == PAIRS:
        pairs = {row for row in found if partners({other: rows[other] for other in own & rows.keys() | seen_more}, further, values_of(rows, [row], further[2]))}
        if pairs != seen or not values_of(rows, seen_more, further[3]) <= values_of(rows, seen, further[2]):
            return False
    elif clause not in (ABSENT, SKIPS) and any(matches(condition, row, rows[row]) and row not in seen for row in own & rows.keys()):
        return False
    asked = set()
    if clause == SOURCE and mains:
        asked = {row for row, version in rows.items() if matches(further[1], row, version)}
    if clause in JOINS:
        asked = set(partners(rows, further, values_of(rows, seen, further[2])))
    if not seen_more <= asked or own & asked - seen_more:
        return False
    versions = [version for _, version in (mains if kind == "insert-select" else more)]
    versions = [rows[row] for row in sorted(seen if kind == "insert-select" else seen_more)]
    for row in seen:
        if kind == "update":
            rows[row] = sourced(number, rows[row], versions)
        if kind == "delete":
            del rows[row]
    if kind == "insert-select":
        rows[number] = sourced(number, None, versions)
        own.add(number)
    if number is not None and kind != "insert-select":
        own |= seen
    return True


def explains(txns, results, order, items_only, totals):
    rows = {}
    for i in order:
        own = set()
        for statement, shown in zip(txns[i], results[i]):
            kind, condition, number = statement
            if kind == "upsert" and shown is not None:
                if not upsert_as_shown(rows, number, shown):
                    return False
                own.add(shown[0] if shown else number[0])
            elif items_only and kind in FORMS:
                if totals and shown is not None and not predicate_orders.adds_up(rows, condition, kind, shown):
                    return False
            elif items_only and kind != "insert" and shown is not None:
                if not apply_items(rows, own, statement, shown):
                    return False
            else:
                before = set(rows)
                came = apply(rows, statement)
                if not is_as_shown(statement, shown, came):
                    return False
                own |= set(rows) - before
    return True


def serial_order(txns, results, chosen, items_only, totals=False):
    return any(explains(txns, results, order, items_only, totals) for order in itertools.permutations(chosen))


def run_on(view, txn, shown):
    rows = dict(view)
    for statement, seen in zip(txn, shown):
        if statement[0] == "upsert" and seen is not None:
            if not upsert_as_shown(rows, statement[2], seen):
                return None
        elif not is_as_shown(statement, seen, apply(rows, statement)):
            return None
    return rows


def with_further(condition, further):
    found = Further(condition)
    found.parts, found.further = condition.parts, further
    return found


def statements(draw, serial):
    found = []
    for _ in range(draw.randint(1, 3)):
        kind = draw.choices(["read", "count", "insert", "insert-select", "update", "delete", "upsert"], [10, 1, 4, 4, 6, 2, 3])[0]
        condition, number = sql_orders.draw_condition(draw), None
        clause = draw.choice({"read": [None, PARTNERS, PARTNERS, ABSENT, SKIPS, LIMIT, PAIRS], "update": [None, SOURCE, SOURCE, ABSENT],
                              "delete": [None, ABSENT]}.get(kind, [None]))
        if kind not in ("read", "count"):
            serial[0] += 1
            number = (upsert_numbers(draw, serial) if kind == "upsert" else insert_select_number(draw, serial[0]) if kind == "insert-select" else
                      update_select_number(draw, serial[0]) if clause == SOURCE else sql_orders.number_of(draw, serial[0], kind))
        if clause is not None:
            column = draw.randrange(4) if clause in JOINS else draw.randrange(3) if clause == LIMIT else 0
            partner = 3 if column == 3 else draw.randrange(3) if clause in JOINS else draw.randint(1, 3) if clause == LIMIT else 0
            condition = with_further(condition, (clause, sql_orders.draw_condition(draw), column, partner))
        found.append([kind, condition, number])
    return found


def micro_operations(txn, results, known):
    ops = []
    for (kind, condition, number), shown in zip(txn, results):
        pairs = list(zip(shown[::2], shown[1::2])) if known and shown is not None and kind not in FORMS else None
        if isinstance(condition, Further):
            clause, asked, column, partner = condition.further
            if clause in ALONE:
                ops.append(["row", 0, clause_number(clause, column, partner)])
            else:
                more = None if pairs is None else [number for row, version in pairs if row < 0 for number in (-row, version)]
                ops += [["row", 0, clause_number(clause, column, partner)], ["row", 0, asked], ["r", 0, more]]
        if kind == "upsert":
            ops += [["row", 0, number[0]], ["row", 0, clause_number(UPSERT)], ["row", 0, ALL], ["r", 0, pairs and [*pairs[0]]], ["row", 0, number[1]]]
            continue
        if kind != "insert":
            own = shown if kind in FORMS else None if pairs is None else [number for row, version in pairs if row > 0 for number in (row, version)]
            ops += [["row", 0, condition - FORMS.get(kind, 0)], ["r", 0, own if known else None]]
        if number is not None:
            ops.append(["row", 0, number])
    return ops


predicate_orders.__doc__ = __doc__
predicate_orders.plain_apply = predicate_orders.apply
predicate_orders.apply = apply
predicate_orders.statements = statements
predicate_orders.serial_order = serial_order
predicate_orders.run_on = run_on
predicate_orders.micro_operations = micro_operations


def written(number, before):
    return sourced(number, before, [])


predicate_orders.written = written
predicate_orders.is_left_out = is_about_constraints

if __name__ == "__main__":
    predicate_orders.main()
