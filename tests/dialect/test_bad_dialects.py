#!/usr/bin/env python3
"""Every bad dialect is rejected with its message, which names the place, and exit status 64."""

import os
import pathlib
import subprocess
import sys
import tempfile

RIG = os.environ["RIG"]

GOOD = """name: good
parameters:
  mode: {default: fast, choices: [fast, slow]}
names:
  id: "${run}/${key}"
outcomes:
  - {status: 200, outcome: ok}
workloads:
  list-append:
    steps:
      - name: txn
        phase: commit
        path: /txn
        body: {ops: [{$each: operations, $item: {key: "${id}", value: "${value}"}}]}
        answer: {each: operations, items: $.results, value: $.value}
"""

# what, text to replace, by what, message (behind the file's name)
CASES = [
    ("an unknown key at the top", "name: good", "name: good\nworkload: {}", "2:1: dialect: there is no key `workload`; did you mean `workloads`?"),
    ("a step's unknown key", "phase: commit", "phase: commit\n        headrs: {}", "13:9: step: there is no key `headrs`; did you mean `headers`?"),
    ("a key twice", "        path: /txn", "        path: /txn\n        path: /x", "14:9: step: the key `path` is repeated"),
    ("no phase", "        phase: commit\n", "", "11:9: step: `phase` is missing: give begin or operation as long as nothing can be committed, else commit"),
    ("no step that commits", "phase: commit", "phase: operation", "11:7: steps: no step is in the phase commit"),
    ("a wrong phase", "phase: commit", "phase: comit", "12:16: phase: there is no value `comit`; did you mean `commit`?"),
    ("no path", "        path: /txn\n", "", "11:9: step: `path` is missing: the path of the request"),
    ("a relative path", "/txn", "txn", "13:15: path: expected a path that starts with `/`"),
    ("a lower-case method", "path: /txn", "path: /txn\n        method: post", "14:17: method: expected GET, POST, PUT, ... in capital letters"),
    ("an unknown value", "${id}", "${ide}", "14:55: body: there is no `${ide}`; did you mean `id`?"),
    ("an unknown filter", "${id}", "${id|base46}", "14:55: body: there is no filter `base46`; did you mean `base64`?"),
    ("an open brace", "${id}", "${id", "14:55: body: `${` without its `}`"),
    ("an element outside of a set", "path: /txn", "path: /txn/${key}", "13:15: path: `${key}` needs an element, and there is none here: put it into `$each`, or give the step a `for`"),
    ("a name of an element outside of a set", "path: /txn", "path: /txn/${id}", "13:15: path: `${id}` needs an element, and there is none here: put it into `$each`, or give the step a `for`"),
    ("an unknown set", "$each: operations", "$each: operation", "14:30: body: there is no value `operation`; did you mean `operations`?"),
    ("each without item", "$item: {key", "$itm: {key", "14:42: body: there is no key `$itm`; did you mean `$item`?"),
    ("each outside of a list", "ops: [{$each", "ops: {x: {$each", None),
    ("an unknown construct", "{key: \"${id}\"", "{$iff: writes, key: \"${id}\"", "14:50: body: `$iff` is not a construct; expected `$each` with `$item`, or `$if` with `$then`"),
    ("a condition of an operation elsewhere", "path: /txn", "path: /txn\n        when: read", "14:15: when: `read` needs an operation, and there is none here; for the transaction use `writes` or `read-only`"),
    ("an unknown condition", "path: /txn", "path: /txn\n        when: writtes", "14:15: when: there is no condition `writtes`; did you mean `writes`?"),
    ("a parameter's impossible value", "path: /txn", "path: /txn\n        when: mode = quick", "14:15: when: the parameter `mode` cannot be `quick`"),
    ("no parameter", "path: /txn", "path: /txn\n        when: mod = fast", "14:15: when: there is no parameter `mod`"),
    ("a bad path of JSON", "value: $.value}", "value: value}", "15:61: answer.value: expected a path such as `$.header.revision` or `$.rows[0]`, not `value`"),
    ("an open bracket in a path", "$.results", "'$.results['", "15:43: answer.items: the path `$.results[` is invalid at `[`: expected `.name`, `['name']`, `[0]` or `[*]`"),
    ("an expectation of neither", "value: $.value}", "expect: {reads: $.x}, value: $.value}", "15:63: answer.expect: there is no key `reads`; did you mean `read`?"),
    ("an expectation of operations elsewhere", "each: operations, items: $.results, value: $.value", "each: keys, items: $.results, expect: {read: $.x}", "15:56: answer.expect: `read` and `write` belong to operations: they need `each: operations`"),
    ("items without each", "each: operations, items", "items", "15:17: answer: `each` and `items` belong together: the set of elements, and the path of their list"),
    ("a value without an element", "each: operations, items: $.results, ", "", "15:17: answer: the element of the value is unknown: give `each` and `items`, or give the step a `for`"),
    ("an unknown decoder", "value: $.value}", "value: {path: $.value, decode: base65}}", "15:85: answer.value: there is no value `base65`; did you mean `base64`?"),
    ("no success", "  - {status: 200, outcome: ok}", "  - {status: 200, outcome: info}", "11:7: steps: no outcome makes the step `txn` ok"),
    ("a status that is none", "status: 200", "status: 2000", "7:14: outcomes.status: expected a whole number from 100 to 599, not `2000`"),
    ("a fail without a reason", "outcomes:\n", "outcomes:\n  - {status: 409, outcome: fail}\n", "7:5: outcomes: a fail needs its `reason`: why is it certain that nothing was and will be committed?"),
    ("a certainty that no client has", "outcomes:\n", "outcomes:\n  - {transport: timeout, outcome: fail, reason: surely not}\n", "7:5: outcomes: after `timeout` of a commit its outcome is unknown, so it cannot be fail (with `phase: operation` it can)"),
    ("success without an answer", "outcomes:\n", "outcomes:\n  - {transport: connection-lost, outcome: ok}\n", "7:5: outcomes: without an answer nothing is acknowledged, so `connection-lost` cannot be ok"),
    ("an outcome that is none", "outcome: ok", "outcome: okay", "7:28: outcomes.outcome: there is no value `okay`; expected ok, fail, info"),
    ("a name that is taken", "names:\n", "names:\n  mode: x\n", "5:3: names: `mode` is taken"),
    ("a parameter without default", "default: fast, ", "", "3:9: parameters: `mode` has no `default`"),
    ("an anchor", "name: good", "name: &a good", "1:7: anchors (&a) are not accepted in dialects: write the value out"),
    ("no workload", "  list-append:", "  list-apend:", "9:3: workloads: there is no key `list-apend`; did you mean `list-append`?"),
    ("a set outside of transactions", "workloads:", "health: [{path: /, for: keys}]\nworkloads:", "8:25: for: there is no transaction here, so there are no sets of its parts"),
]


def run(folder, text, parameters=""):
    dialect, plan = folder / "d.yaml", folder / "plan.yaml"
    dialect.write_text(text)
    plan.write_text("name: p\nworkload: {transactions: 10}\n"
                    f"database: {{driver: http, dialect: {dialect}, endpoints: ['http://127.0.0.1:1'], parameters: [{parameters}]}}\n")
    return subprocess.run([RIG, "plan", str(plan)], capture_output=True, text=True, timeout=300)


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rig-dialect-") as name:
        folder = pathlib.Path(name)
        done = run(folder, GOOD)
        if done.returncode != 0:
            sys.exit(f"the good dialect is refused: {done.stderr}")
        for what, old, new, message in CASES:
            if old not in GOOD:
                sys.exit(f"{what}: the good dialect has no {old!r}")
            done = run(folder, GOOD.replace(old, new, 1))
            wanted = None if message is None else f"database: {folder}/d.yaml:{message}\n"
            if done.returncode != 64 or done.stdout or (wanted and not done.stderr.endswith(wanted)):
                failed += 1
                print(f"FAILED {what}: exit status {done.returncode}\n  {done.stderr}  wanted: ...{wanted}")
        for parameters, message in [("mode=quick", "`parameters`: mode of the dialect good cannot be `quick`"),
                                    ("mod=fast", "`parameters`: the dialect good has no parameter `mod`; did you mean `mode`?"),
                                    ("fast", "`parameters`: expected NAME=VALUE, not `fast`")]:
            done = run(folder, GOOD, parameters)
            if done.returncode != 64 or message not in done.stderr:
                failed += 1
                print(f"FAILED {parameters}: exit status {done.returncode}: {done.stderr}")
    print(f"{len(CASES) + 3 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
