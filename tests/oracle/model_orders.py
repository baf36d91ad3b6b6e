#!/usr/bin/env python3
"""Compares the verdicts on random small histories of models with a search over all orders.

    model_orders.py [--count N] [--seed S] [--proofs]

The models are the shipped ones and random ones, and this file evaluates them itself, by the grammar of docs/models.md. An
order explains an object if it keeps real time, contains every acknowledged operation with its result, any of those of
unknown outcome and none that failed. rig must refute exactly the objects that no order explains, and decide all of them. A
register with compare-and-set as a model has the same verdicts as the type cas-register. With --proofs rig-verify must accept
each proof. A disagreement is printed, and the exit status is 1.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RIG = pathlib.Path(os.environ.get("RIG", HERE.parents[1] / "build/release/rig"))
MODELS = HERE.parents[1] / "configs/models"
OBJECTS = 100  # of one history


class Undefined(Exception):
    """An expression without a value."""


class Word:
    """true, false and nil, which equal themselves alone."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def __repr__(self):
        return self.name


TRUE, FALSE, NIL = Word("true", True), Word("false", False), Word("nil", None)


# ---- expressions, by the grammar of docs/models.md ----

TOKEN = re.compile(r"\s*(?:(\d+)|'([^']*)'|([A-Za-z_]\w*)|(==|!=|<=|>=|[-+*/%<>()\[\],]))")


class Expression:
    """Computed while it is parsed; a part that is not wanted is parsed only."""

    def __init__(self, text, state, arguments):
        self.tokens, self.at, self.state, self.arguments = [], 0, state, arguments
        text = text.strip()
        while text:
            match = TOKEN.match(text)
            self.tokens.append(next((kind, part) for kind, part in zip("nsw=", match.groups()) if part is not None))
            text = text[match.end():].strip()
        self.tokens.append(("end", ""))

    def value(self):
        result = self.disjunction(True)
        assert self.tokens[self.at][0] == "end", self.tokens[self.at:]
        return result

    def take(self, *signs):
        if self.tokens[self.at][1] in signs and self.tokens[self.at][0] in "w=":
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def truth(self, value):
        if value is not TRUE and value is not FALSE:
            raise Undefined
        return value is TRUE

    def number(self, *values):
        if not all(isinstance(value, int) for value in values):
            raise Undefined
        return values

    def disjunction(self, wanted):
        left = self.conjunction(wanted)
        while self.take("or"):
            needed = wanted and not self.truth(left)
            right = self.conjunction(needed)
            left = right if needed else left
        return left

    def conjunction(self, wanted):
        left = self.negation(wanted)
        while self.take("and"):
            needed = wanted and self.truth(left)
            right = self.negation(needed)
            left = right if needed else left
        return left

    def negation(self, wanted):
        if not self.take("not"):
            return self.comparison(wanted)
        value = self.negation(wanted)
        return (FALSE if self.truth(value) else TRUE) if wanted else NIL

    def comparison(self, wanted):
        left = self.sum(wanted)
        negated = self.take("not")
        if self.take("in"):
            container = self.state[self.tokens[self.at][1]]
            self.at += 1
            found = any(same(left, item) for item in container)
            return TRUE if found != bool(negated) else FALSE
        sign = self.take("==", "!=", "<", "<=", ">", ">=")
        if not sign:
            return left
        right = self.sum(wanted)
        if not wanted:
            return NIL
        if sign in ("==", "!="):
            return TRUE if same(left, right) == (sign == "==") else FALSE
        if not (isinstance(left, str) and isinstance(right, str)):
            self.number(left, right)
        holds = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]
        return TRUE if holds else FALSE

    def sum(self, wanted):
        left = self.product(wanted)
        while sign := self.take("+", "-"):
            right = self.product(wanted)
            if wanted:
                self.number(left, right)
                left = left + right if sign == "+" else left - right
        return left

    def product(self, wanted):
        left = self.factor(wanted)
        while sign := self.take("*", "/", "%"):
            right = self.factor(wanted)
            if not wanted:
                continue
            self.number(left, right)
            if sign != "*" and right == 0:
                raise Undefined
            quotient = 0 if sign == "*" else abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            left = left * right if sign == "*" else quotient if sign == "/" else left - quotient * right
        return left

    def factor(self, wanted):
        if not self.take("-"):
            return self.primary(wanted)
        value = self.factor(wanted)
        return -self.number(value)[0] if wanted else NIL

    def primary(self, wanted):
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "n":
            return int(text)
        if kind == "s":
            return text
        if text == "(":
            value = self.disjunction(wanted)
            assert self.take(")")
            return value
        words = {"true": TRUE, "false": FALSE, "nil": NIL}
        if text in words:
            return words[text]
        if self.take("("):
            return self.function(text, wanted)
        if text in self.arguments:
            return self.arguments[text]
        variable = self.state[text]
        if not self.take("["):
            return variable
        key = self.disjunction(wanted)
        assert self.take("]")
        if not wanted:
            return NIL
        if isinstance(variable, dict):
            return variable.get(key, NIL)
        self.number(key)
        return variable[key] if 0 <= key < len(variable) else NIL

    def function(self, name, wanted):
        if name == "if":
            chosen = wanted and self.truth(self.disjunction(wanted)) if wanted else self.disjunction(False) and False
            assert self.take(",")
            first = self.disjunction(wanted and chosen)
            assert self.take(",")
            second = self.disjunction(wanted and not chosen)
            assert self.take(")")
            return first if chosen else second
        container, values = None, []
        if name not in ("min", "max", "list"):
            container = self.state[self.tokens[self.at][1]]
            self.at += 1
            self.take(",")
        while not self.take(")"):
            values.append(self.disjunction(wanted))
            self.take(",")
        return self.call(name, container, values) if wanted else NIL

    def call(self, name, container, values):
        if name == "list":
            return tuple(values)
        if name in ("min", "max"):
            self.number(*values)
            return min(values) if name == "min" else max(values)
        if name == "count":
            return len(container)
        if name == "sum":
            return sum(self.number(*(container.values() if isinstance(container, dict) else container)))
        if name in ("least", "greatest"):
            keys = self.number(*container)
            return NIL if not keys else min(keys) if name == "least" else max(keys)
        if name in ("first", "last"):
            return NIL if not container else container[0 if name == "first" else -1]
        if name == "values" and isinstance(container, list):
            return tuple(container)
        keys = sorted((key for key in container), key=lambda key: (isinstance(key, str), key))
        if name == "range":
            for key in keys:
                for bound in values:
                    if isinstance(key, str) != isinstance(bound, str) or isinstance(bound, Word):
                        keys = []
            keys = [key for key in keys if values[0] <= key < values[1]]
        return tuple((key, container[key]) if name in ("entries", "range") else key if name == "keys" else container[key] for key in keys)


def same(a, b):
    return type(a) is type(b) and (a is b if isinstance(a, Word) else a == b)


# ---- models ----

def copied(state):
    return {name: value.copy() if isinstance(value, (dict, list)) else value for name, value in state.items()}


def frozen(state):
    parts = []
    for name, value in state.items():
        parts.append((name, repr(sorted(value.items(), key=repr) if isinstance(value, dict) else value)))
    return tuple(parts)


def update(state, target, text, arguments, old):
    name, _, key = target.partition("[")
    def compute(expression):
        return Expression(expression, old, arguments).value()
    if key:
        place, value = compute(key[:-1]), compute(text)
        if isinstance(old[name], dict):
            return lambda: state[name].pop(place, None) if value is NIL else state[name].__setitem__(place, value)
        def put():
            if not isinstance(place, int) or not 0 <= place < len(state[name]):
                raise Undefined
            state[name][place] = value
        return put
    match = re.fullmatch(r"(append|prepend|rest|most|remove)\(\w+(?:, *(.*))?\)", text) if isinstance(old[name], (dict, list)) else None
    if text in ("[]", "{}"):
        return lambda: state.__setitem__(name, [] if text == "[]" else {})
    if match is None:
        value = compute(text)
        return lambda: state.__setitem__(name, value)
    value = compute(match.group(2)) if match.group(2) else None
    def change():
        form, container = match.group(1), state[name]
        if form in ("rest", "most") and not container:
            raise Undefined
        if form == "remove" and isinstance(container, dict):
            container.pop(value, None)
        elif form == "remove":
            places = [i for i, item in enumerate(container) if same(item, value)]
            state[name] = [item for i, item in enumerate(container) if i != (places + [-1])[0]]
        else:
            state[name] = {"append": container + [value], "prepend": [value] + container, "rest": container[1:], "most": container[:-1]}[form]
    return change


def outcomes(model, name, values, state):
    """(result, next state) of each case that is possible."""
    operation = model["operations"][name]
    arguments = dict(zip(operation.get("arguments", {}), values))
    cases = operation.get("cases") or operation.get("any") or [operation]
    some_return = any("returns" in case for case in cases)
    found = []
    for case in cases:
        try:
            if "when" in case and Expression(case["when"], state, arguments).value() is not TRUE:
                continue
        except Undefined:
            continue
        try:
            result = Expression(case["returns"], state, arguments).value() if "returns" in case else NIL
            after = copied(state)
            changes = [update(after, target, text, arguments, state) for target, text in case.get("set", {}).items()]
            for change in changes:
                change()
            found.append((result if some_return else None, after))
        except Undefined:
            pass
        if "any" not in operation:
            break
    return found


def explains(model, operations):
    """Whether an order of the operations of one object explains them."""
    seen = set()

    def search(done, state):
        left = [i for i, operation in enumerate(operations) if i not in done and operation["outcome"] == "ok"]
        if not left:
            return True
        mark = (done, frozen(state))
        if mark in seen:
            return False
        seen.add(mark)
        first_end = min(operations[i]["complete"] for i in left)
        for i, operation in enumerate(operations):
            if i in done or operation["outcome"] == "fail" or operation["invoke"] > first_end:
                continue
            for result, after in outcomes(model, operation["f"], operation["values"], state):
                fits = operation["outcome"] == "info" or result is None or same(result, operation["result"])
                if fits and search(done | {i}, after):
                    return True
        return False

    return search(frozenset(), copied(model["state"]))


REGISTER = {
    "model": "cas-register", "state": {"value": NIL},
    "operations": {"write": {"arguments": {"new": range(5)}, "set": {"value": "new"}},
                   "cas": {"arguments": {"old": range(5), "new": range(5)}, "when": "value == old", "set": {"value": "new"}},
                   "read": {"returns": "value"}}}
SHIPPED = {
    "cas-register": REGISTER,
    "bank-account": {
        "model": "bank-account", "state": {"balance": 0},
        "operations": {"deposit": {"arguments": {"amount": range(1, 6)}, "set": {"balance": "balance + amount"}},
                       "withdraw": {"arguments": {"amount": range(1, 6)},
                                    "cases": [{"when": "balance >= amount", "set": {"balance": "balance - amount"}, "returns": "true"},
                                              {"returns": "false"}]},
                       "read": {"returns": "balance"}}},
    "priority-queue": {
        "model": "priority-queue", "state": {"counts": {}},
        "operations": {"insert": {"arguments": {"element": range(10)},
                                  "set": {"counts[element]": "if(element in counts, counts[element] + 1, 1)"}},
                       "take": {"cases": [{"when": "count(counts) == 0", "returns": "nil"},
                                          {"set": {"counts[least(counts)]": "if(counts[least(counts)] > 1, counts[least(counts)] - 1, nil)"},
                                           "returns": "least(counts)"}]}}},
    "cache": {
        "model": "cache", "state": {"value": NIL}, "keyed": True,
        "operations": {"put": {"arguments": {"new": range(5)}, "set": {"value": "new"}},
                       "get": {"any": [{"returns": "value"}, {"set": {"value": "nil"}, "returns": "nil"}]}}},
    "key-value": {
        "model": "key-value", "state": {"values": {}, "revisions": {}, "revision": 0},
        "operations": {
            "put": {"arguments": {"name": ["a", "b", "c"], "new": range(10)},
                    "set": {"values[name]": "new", "revisions[name]": "revision + 1", "revision": "revision + 1"}, "returns": "revision + 1"},
            "put_if": {"arguments": {"name": ["a", "b", "c"], "expected": range(7), "new": range(10)},
                       "cases": [{"when": "expected == if(name in revisions, revisions[name], 0)",
                                  "set": {"values[name]": "new", "revisions[name]": "revision + 1", "revision": "revision + 1"}, "returns": "true"},
                                 {"returns": "false"}]},
            "get": {"arguments": {"name": ["a", "b", "c"]}, "returns": "list(values[name], revisions[name])"},
            "delete": {"arguments": {"name": ["a", "b", "c"]},
                       "cases": [{"when": "name in values", "set": {"values[name]": "nil", "revisions[name]": "nil", "revision": "revision + 1"},
                                  "returns": "true"}, {"returns": "false"}]},
            "range": {"arguments": {"from": ["a", "b"], "to": ["c", "d"]}, "returns": "range(values, from, to)"}}},
}


def draw_model(draw):
    """A random model of a value, a map and a sequence."""
    guards = ["x < a", "x == a", "(x + a) % 2 == 0", "a in m", "a not in q", "count(q) < 2", "not (x > 1) or a == 0", "m[a] == x",
              "x != a and count(m) > 0", "first(q) == a", "x / a == 1", "sum(m) - a >= 0", "-x <= a * 2", "least(m) < greatest(m)"]
    changes = [("x", "(x + a) % 4"), ("x", "max(x - 1, 0)"), ("x", "if(a in m, m[a], a)"), ("m[a]", "x"), ("m[x]", "a"), ("m[a]", "nil"),
               ("q", "append(q, a)"), ("q", "prepend(q, x)"), ("q", "rest(q)"), ("q", "most(q)"), ("q", "remove(q, a)"), ("m", "remove(m, x)"),
               ("q[0]", "a"), ("x", "min(a, count(q))"), ("x", "sum(q) % 3"), ("q", "[]"), ("m", "{}"), ("x", "if(q[0] == nil, 2, q[0])")]
    answers = ["x", "a", "count(m)", "m[a]", "first(q)", "last(q)", "true", "list(x, a)", "keys(m)", "values(q)", "entries(m)", "least(m)",
               "range(m, 0, 2)", "'done'", "nil", "x == a", "q[1]"]

    def case():
        made = {}
        if draw.random() < 0.6:
            made["when"] = draw.choice(guards)
        if draw.random() < 0.6:
            made["set"] = dict(draw.sample(changes, draw.choice([1, 1, 2])))
        if draw.random() < 0.7:
            made["returns"] = draw.choice(answers)
        return made

    operations = {}
    for number in range(draw.randint(2, 4)):
        operation = {"arguments": {"a": range(3)}}
        form = draw.random()
        if form < 0.3:
            operation.update(case())
        else:
            operation["any" if form > 0.7 else "cases"] = [case() for _ in range(draw.randint(1, 3))]
        operations[f"op{number}"] = operation
    return {"model": "random", "state": {"x": 0, "m": {}, "q": []}, "operations": operations}


def as_file(model):
    """The model as JSON, which is YAML."""
    operations = {}
    for name, operation in model["operations"].items():
        made = dict(operation)
        made["arguments"] = {argument: list(values) for argument, values in operation.get("arguments", {}).items()}
        operations[name] = made
    state = {name: None if value is NIL else value for name, value in model["state"].items()}
    return json.dumps({"model": model["model"], "state": state, "operations": operations})


# ---- histories ----

def draw_operations(draw, model):
    """The operations of one object: atomic ones, of which some results are changed afterwards."""
    operations, running, position, state, results = [], [], 0, copied(model["state"]), [0, NIL]
    changed = draw.random() < 0.5
    fails = draw.random() < 0.3
    for _ in range(draw.randint(2, 6)):
        name = draw.choice(list(model["operations"]))
        values = [draw.choice(list(values)) for values in model["operations"][name].get("arguments", {}).values()]
        running.append({"f": name, "values": values, "invoke": position, "done": None})
        operations.append(running[-1])
        position += 1
        while running and (draw.random() < 0.55 or len(running) == 3):
            operation = running.pop(draw.randrange(len(running)))
            for one in [operation] + draw.sample(running, len(running) // 2):
                if one["done"] is None:
                    found = outcomes(model, one["f"], one["values"], state)
                    one["done"] = draw.choice(found) if found else False
                    state = one["done"][1] if one["done"] else state
            operation["outcome"] = "info" if draw.random() < 0.15 else "ok" if operation["done"] else "fail"
            if operation["outcome"] == "fail" and fails:
                operation["outcome"] = "ok"
                operation["done"] = (draw.choice(results), state)
            operation["result"] = operation["done"][0] if operation["done"] else None
            if operation["result"] is not None:
                results.append(operation["result"])
                if changed and draw.random() < 0.4:
                    operation["result"] = draw.choice(results)
            operation["complete"] = position
            position += 1
    for operation in running:
        operation.update(outcome="info", complete=None, result=None)
    return operations


def plain(value):
    if isinstance(value, Word):
        return value.value
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def write_history(path, model, objects):
    """The lines of the file, and the object of each."""
    lines, owners, process = [], [], 0
    for key, operations in enumerate(objects):
        events = sorted([(operation["invoke"], operation, "invoke") for operation in operations] +
                        [(operation["complete"], operation, operation["outcome"]) for operation in operations if operation["complete"] is not None],
                        key=lambda event: event[0])
        for operation in operations:
            operation["process"], process = process, process + 1
        for _, operation, kind in events:
            value = [plain(value) for value in operation["values"]]
            operation_of = model["operations"][operation["f"]]
            answers = [case.get("returns") for case in [operation_of] + operation_of.get("cases", []) + operation_of.get("any", [])]
            returns = any(answers)
            lists = any(re.search(r"\b(list|keys|values|entries|range)\(", answer or "") for answer in answers)
            if model.get("keyed"):
                value = [key] + value
            if kind == "ok" and returns:
                repeats = key % 2 and value and not lists
                value = value + [plain(operation["result"])] if repeats else plain(operation["result"])
            elif isinstance(value, list) and (key % 3 or model is REGISTER) and not model.get("keyed"):
                value = value if len(value) > 1 else value[0] if value else None
            line = {"process": operation["process"], "type": kind, "f": operation["f"], "value": value}
            if not model.get("keyed"):
                line["key"] = key
            lines.append(json.dumps(line))
            owners.append(key)
    path.write_text("\n".join(lines) + "\n")
    return owners


def judge(path, *arguments):
    """The objects that rig refutes, by their witnesses' operations, and how many."""
    ran = subprocess.run([RIG, "check", path, "--format", "json", "--max-witnesses", str(2 * OBJECTS), "--level", "strict-serializable",
                          *arguments], capture_output=True, text=True, timeout=300)
    if ran.returncode not in (0, 1):
        return None, f"exit status {ran.returncode}: {ran.stderr}{ran.stdout[:2000]}"
    result = json.loads(ran.stdout)
    found = result["anomalies"].get("nonlinearizable", {"count": 0, "witnesses": []})
    return {witness["transactions"][0] for witness in found["witnesses"]}, found["count"]


def compare(draw, folder, name, model, proofs):
    """An error, or None."""
    objects = [draw_operations(draw, model) for _ in range(OBJECTS)]
    history = folder / "history.jsonl"
    owners = write_history(history, model, objects)
    file = MODELS / f"{name}.yaml" if name != "random" else folder / "model.yaml"
    if name == "random":
        file.write_text(as_file(model))
    expected = {key for key, operations in enumerate(objects) if not explains(model, operations)}
    proof = folder / "proof"
    more = ["--proof", str(proof)] if proofs else []
    refuted, count = judge(history, "--model", str(file), *more)
    if refuted is None:
        return f"{name}: {count}\n{as_file(model)}\n{history.read_text()}"
    keys = {owners[transaction] for transaction in refuted}
    if keys != expected or count != len(expected):
        key = min(keys ^ expected, default=None)
        mine = "\n".join(line for line, owner in zip(history.read_text().split("\n"), owners) if owner == key)
        return f"{name}: object {key} is {'refuted' if key in keys else 'not refuted'} (counts {count}, {len(expected)})\n{as_file(model)}\n{mine}"
    if name == "cas-register":
        refuted, count = judge(history, "--workload", "cas-register", "--initial", "nil")
        if refuted is None or {owners[transaction] for transaction in refuted} != expected:
            return f"the type cas-register: {count if refuted is None else 'differs'}\n{history.read_text()}"
    if proofs:
        ran = subprocess.run([RIG.with_name("rig-verify"), "--model", file, history, proof], capture_output=True, text=True, timeout=300)
        if ran.returncode not in (0, 2):
            return f"{name}: rig-verify ends with {ran.returncode}: {ran.stderr}\n{as_file(model)}\n{history.read_text()}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--proofs", action="store_true")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    names = list(SHIPPED) + ["random"] * 5
    with tempfile.TemporaryDirectory() as folder:
        for number in range(max(1, options.count // OBJECTS)):
            name = names[number % len(names)]
            model = SHIPPED.get(name) or draw_model(draw)
            problem = compare(draw, pathlib.Path(folder), name, model, options.proofs)
            if problem:
                print(f"model_orders.py --seed {options.seed}, history {number}: {problem}")
                return 1
    print(f"{options.count} objects agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
