"""The page of a report in headless Chromium: its timeline by mouse, by keyboard and on a phone."""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system", "run"))

from browser import Browser, programs
from rig_command import RigTest, main

PLAN = """
name: page
workload: {{type: list-append, transactions: {transactions}, keys: {{active: 10}}}}
clients: {{count: 6}}
database: {{driver: sim, isolation: snapshot-isolation, bug: long-fork, bug-rate: 100%}}
check: {{levels: [snapshot-isolation]}}
report: [html]
"""
NODES = """
name: nodes
workload: {type: list-append, duration: 4s, read-only: 30%, keys: {active: 8}}
clients: {count: 6, rate: 300}
database: {driver: postgres, isolation: repeatable-read, reads-from: any, cluster: {local: {nodes: 2}}}
nemesis: [{fault: pause, target: standby, after: 1s, for: 1s, count: 1}]
check: {levels: [serializable], minimum: {answering: 0%}}
report: [html]
"""
OBJECT = """
name: object
workload: {type: cas-register, transactions: 3000}
clients: {count: 10}
database: {driver: sim, isolation: serializable, bug: stale-read, bug-rate: 5%}
check: {levels: [strict-serializable]}
report: [html]
"""
# For each picture of an object: where it is in view, where its culprit is, and whether it is wider than the view.
CULPRITS = """return [...document.querySelectorAll('.scroll')].filter(at => at.querySelector('.culprit') && at.checkVisibility()).map(at => {
    const view = at.getBoundingClientRect(), bar = at.querySelector('.bar.blocked').getBoundingClientRect();
    return [Math.max(view.left, 0), Math.min(view.right, innerWidth), bar.left, bar.right, at.scrollWidth > at.clientWidth]})"""
MATRIX = """
name: levels
plan: {plan}
servers: [{{name: one}}, {{name: the other one with a longer name, set: {{database.bug: lost-update}}}}]
levels: [snapshot-isolation, serializable]
"""
LONG, SHORT = 45000, 2000
TAB, ENTER, SPACE = "\ue004", "\ue007", " "
SHOTS = pathlib.Path(os.environ.get("RIG_TEST_SCREENSHOTS", ""))
DESKTOP, PHONE = (1300, 1000), (390, 844)
OPEN_ALL = "for (const part of document.querySelectorAll('details')) part.open = true"
STATE = """const state = document.getElementById('tl-state');
    return state.getAttribute('aria-busy') === 'false' && state.textContent"""
VIEW = re.compile(r"([0-9.]+) s to ([0-9.]+) s: ([0-9,]+) transaction")


class Page(RigTest):
    def report(self, transactions):
        name = f"run-{transactions}"
        self.status(1, self.rig("run", self.plan(PLAN.format(transactions=transactions)), "--seed", "1", "-o", name))
        page = self.folder / name / "report.html"
        self.assertLess(page.stat().st_size, 3000000)
        return page, self.results(name)

    def view(self, browser, act=None):
        """The times and the count that the page tells after the act."""
        if act:
            act()
        text = browser.until(STATE)
        found = VIEW.match(text)
        self.assertIsNotNone(found, text)
        return float(found[1]), float(found[2]), int(found[3].replace(",", ""))

    def fits(self, browser):
        """No part of the page makes it wider than the window."""
        browser.run(OPEN_ALL)
        self.assertEqual(browser.run("return document.documentElement.scrollWidth"),
                         browser.run("return window.innerWidth"))

    def ink(self, browser):
        """How many colours the timeline shows."""
        return browser.run("""
            const canvas = document.getElementById('tl-canvas'), seen = new Set();
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
            return seen.size""")

    def look_at_witness(self, browser):
        browser.run("document.getElementById('timeline').open = false")
        browser.click("#witness [data-witness]")
        name = browser.until("return document.getElementById('tl-witness').value")
        self.assertTrue(browser.run("return document.getElementById('timeline').open"))
        self.assertEqual(browser.run("return document.activeElement.id"), "tl-canvas")
        shown = browser.until("return document.getElementById('tl-txn').textContent")
        self.assertRegex(shown, r"^T[0-9]+ ")
        self.assertIn("Part of ", shown)
        return name

    def by_mouse(self, browser, results):
        browser.become(*DESKTOP, False)
        browser.run("document.getElementById('timeline').open = true")
        begin, end, count = whole = self.view(browser)
        self.assertEqual(count, sum(results["history"][of] for of in ("ok", "fail", "info")))
        near, far, few = self.view(browser, lambda: self.look_at_witness(browser))
        self.assertLess(few, count)
        self.assertLess(far - near, end - begin)
        near_2, far_2, _ = self.view(browser, lambda: browser.click("#tl-out"))
        self.assertAlmostEqual(far_2 - near_2, 2 * (far - near), delta=0.1 * (far - near) + 0.001)
        near_3, _, _ = self.view(browser, lambda: browser.drag("#tl-canvas", -120))
        self.assertGreater(near_3, near_2)
        self.assertEqual(self.view(browser, lambda: browser.click("#tl-all")), whole)

    def by_filter(self, browser, results):
        count = self.view(browser)[2]
        failed = self.view(browser, lambda: browser.choose("#tl-outcome", "fail"))
        self.assertEqual(failed[2], results["history"]["fail"])
        self.view(browser, lambda: browser.choose("#tl-outcome", ""))
        by_client = [self.view(browser, lambda: browser.choose("#tl-client", str(client)))[2] for client in range(6)]
        self.assertEqual(sum(by_client), count)
        self.view(browser, lambda: browser.choose("#tl-client", ""))
        of_key = self.view(browser, lambda: browser.type("#tl-key", "0"))[2]
        self.assertTrue(0 < of_key < count)
        browser.run("document.getElementById('tl-list').open = true")
        browser.until("return document.querySelectorAll('#tl-table tbody tr').length === arguments[0]", min(of_key, 200))
        for row in browser.run("return [...document.querySelectorAll('#tl-table tbody tr')].map(row => row.lastChild.textContent)"):
            self.assertRegex(row, r"(^|, )[a-z]+ 0 ")
        all_again = self.view(browser, lambda: browser.run(
            "const key = document.getElementById('tl-key'); key.value = ''; key.dispatchEvent(new Event('input'))"))
        self.assertEqual(all_again[2], count)

    def by_keys(self, browser):
        begin, end, _ = whole = self.view(browser)
        browser.run("document.getElementById('tl-canvas').focus()")
        near, far, _ = self.view(browser, lambda: browser.press("++"))
        self.assertAlmostEqual(far - near, (end - begin) / 4, delta=0.05 * (end - begin))
        browser.press("n")
        first = browser.until("return document.getElementById('tl-txn').textContent")
        browser.press("n")
        browser.until("return document.getElementById('tl-txn').textContent !== arguments[0]", first)
        browser.press("\ue015")  # down
        browser.press("\ue00c")  # escape
        browser.until("return document.getElementById('tl-txn').hidden")
        self.assertEqual(self.view(browser, lambda: browser.press("0")), whole)

    def by_touch(self, browser):
        browser.run("document.getElementById('tl-canvas').scrollIntoView({block: 'center'})")
        begin, end, _ = self.view(browser, lambda: browser.click("#tl-all"))
        near, far, few = self.view(browser, lambda: browser.pinch("#tl-canvas", 200))
        self.assertLess(far - near, 0.7 * (end - begin))
        near_2, far_2, more = self.view(browser, lambda: browser.pinch("#tl-canvas", -120))
        self.assertGreater(far_2 - near_2, far - near)
        self.assertGreater(more, few)

    def by_node(self, browser):
        """Which node answered, in the filter, the table and the words of a transaction."""
        browser.run("document.getElementById('timeline').open = true")
        count = self.view(browser, lambda: browser.click("#tl-all"))[2]
        nodes = browser.run("return [...document.getElementById('tl-node').options].map(option => option.value)")
        self.assertEqual(nodes, ["", "pg-1", "pg-2"])
        each = [self.view(browser, lambda: browser.choose("#tl-node", node))[2] for node in nodes[1:]]
        self.assertEqual(sum(each), count)
        self.assertGreater(min(each), 10)
        browser.run("document.getElementById('tl-canvas').focus()")
        browser.press("n")
        self.assertIn("pg-2", browser.until("return document.getElementById('tl-txn').textContent"))
        browser.choose("#tl-node", "")
        by_outcome = self.ink(browser)
        browser.choose("#tl-colour", "node")
        self.assertGreater(by_outcome, 20)
        self.assertIn("pg-2", browser.until("return document.getElementById('tl-legend').textContent"))

    def first_time_ns(self, run):
        """The time of the first transaction in the record, which is 0 on the page."""
        lines = self.folder / "first.jsonl"
        self.status(0, self.rig("convert", f"{run}/history.rig", lines))
        with open(lines, encoding="utf-8") as file:
            return next(event["time"] for event in map(json.loads, file) if isinstance(event.get("process"), int))

    def by_fault(self, browser, results):
        """The band of the fault lies where the record has it."""
        span = self.view(browser, lambda: browser.click("#tl-all"))[1]
        fault = results["faults"][0]
        zero_ns = self.first_time_ns("nodes")
        from_ns, to_ns = fault["from_ns"] - zero_ns, fault["to_ns"] - zero_ns
        left, width, first, last = browser.run("""
            const canvas = document.getElementById('tl-map'), width = canvas.width;
            const row = canvas.getContext('2d').getImageData(0, 5, width, 1).data;
            const at = x => row[4 * x] << 16 | row[4 * x + 1] << 8 | row[4 * x + 2];
            let left = 0;
            while (row[4 * left + 3] < 255) left++;
            let first = Math.round(left + arguments[0] * (width - left)), last = first;
            const shade = at(first);
            while (at(first - 1) === shade) first--;
            while (at(last + 1) === shade) last++;
            return [left, width, first, last]""", (from_ns + to_ns) / 2e9 / span)
        for column, ns in ((first, from_ns), (last, to_ns)):
            self.assertAlmostEqual((column - left) / (width - left) * span, ns / 1e9, delta=0.05)

    def is_printed_whole(self, browser):
        """What is folded on the screen is on paper."""
        browser.run("for (const part of document.querySelectorAll('details')) part.open = false")
        parts = "return ['run', 'faults', 'charts'].map(id => document.querySelector(`#${id} > :not(summary)`).checkVisibility())"
        self.assertEqual(browser.run(parts), [False] * 3)
        browser.print_media(True)
        self.assertEqual(browser.run(parts), [True] * 3)
        browser.become(720, 1000, False)
        browser.print_media(True)
        wide = "return [...document.querySelectorAll('svg, canvas')].filter(at => at.getBoundingClientRect().right > innerWidth + 1).length"
        self.assertEqual(browser.run(wide), 0)
        browser.become(*DESKTOP, False)
        browser.print_media(False)
        paper = browser.pdf()
        self.assertTrue(paper.startswith(b"%PDF-"))
        self.assertGreater(len(paper), 20000)
        if SHOTS.name:
            (SHOTS / "page.pdf").write_bytes(paper)

    def by_keyboard_alone(self, browser, page):
        """Tab comes to each part, Enter opens it, and no part holds the focus."""
        browser.open(page)
        browser.run("document.body.focus()")
        seen = []
        for _ in range(60):
            browser.press(TAB)
            at = browser.run("""
                const at = document.activeElement, fold = at.closest('details');
                return at === document.body ? '' : (at.id || at.tagName.toLowerCase()) + ' ' + (fold ? fold.id : '')""")
            if at == "" or (seen and at == seen[0] and len(seen) > 8):
                break
            seen.append(at)
            if at == "summary timeline":
                browser.press(ENTER)
                self.assertTrue(browser.run("return document.getElementById('timeline').open"))
        order = [name for name in ("summary timeline", "tl-witness timeline", "tl-key timeline", "tl-node timeline", "tl-out timeline",
                                   "tl-canvas timeline", "summary charts", "summary run") if name in seen]
        self.assertEqual(len(order), 8, seen)
        self.assertEqual(sorted(order, key=seen.index), order)

    def is_told(self, browser):
        """Each element that a screen reader comes to has a name; the page has a language, a title and headings."""
        browser.run(OPEN_ALL)
        told = browser.accessible()
        named = {"button", "combobox", "searchbox", "textbox", "link", "img", "image", "Canvas", "heading", "application", "graphics-document"}
        nameless = [role for role, name in told if role in named and name.strip() == ""]
        self.assertEqual(nameless, [])
        wanted = {("heading", "Timeline"), ("button", "zoom in"), ("combobox", "Node"), ("combobox", "Key"),
                  ("application", "Timeline of the transactions by client")}
        self.assertEqual(wanted - set(told), set())
        self.assertEqual(browser.run("return document.documentElement.lang"), "en")
        self.assertNotEqual(browser.run("return document.title"), "")
        self.assertEqual(browser.run("return document.querySelectorAll('h1').length"), 1)

    def test_faults_nodes_paper_and_hands(self):
        done = self.rig("run", self.plan(NODES), "--seed", "1", "-o", "nodes")
        self.assertIn(done.status, (0, 1), done)  # a short load need not show write skew
        page, results = self.folder / "nodes/report.html", self.results("nodes")
        browser = Browser(*DESKTOP)
        self.addCleanup(browser.close)
        browser.become(*DESKTOP, False)
        browser.open(page)
        self.by_node(browser)
        self.by_fault(browser, results)
        if SHOTS.name:
            browser.screenshot(SHOTS / "nodes.png")
        self.is_printed_whole(browser)
        self.is_told(browser)
        self.by_keyboard_alone(browser, page)
        browser.become(*PHONE, True)
        browser.open(page)
        self.fits(browser)
        self.by_touch(browser)
        if SHOTS.name:
            browser.screenshot(SHOTS / "nodes-phone.png")
        self.assertEqual(browser.errors(), [])

    def test_an_object(self):
        """The operation that cannot take effect is in view at each width, and the picture scrolls."""
        self.status(1, self.rig("run", self.plan(OBJECT), "--seed", "3", "-o", "object"))
        browser = Browser(*DESKTOP)
        self.addCleanup(browser.close)
        for width, height in ((1280, 900), PHONE):
            for dark in (False, True):
                browser.become(width, height, dark)
                browser.open(self.folder / "object/report.html")
                pictures = browser.run(CULPRITS)
                self.assertGreater(len(pictures), 0)
                for left, right, first, last, _ in pictures:
                    self.assertLessEqual(left, first)
                    self.assertGreaterEqual(right, min(last, first + 200), pictures)
                if SHOTS.name:
                    browser.run("document.querySelector('.scroll .culprit').parentElement.scrollIntoView()")
                    browser.screenshot(SHOTS / f"object-{width}-{'dark' if dark else 'light'}.png")
                self.fits(browser)
        self.assertTrue(any(is_wide for *_, is_wide in pictures), pictures)
        # Once it is shown, the picture stays where the reader scrolls it.
        browser.until("""const picture = document.querySelector('.scroll .culprit').parentElement;
            picture.scrollLeft = 0;
            return getComputedStyle(document.querySelector('.culprit')).scrollSnapAlign === 'none' && picture.scrollLeft === 0""")
        self.assertEqual(browser.errors(), [])

    def test_a_matrix(self):
        """The table of two levels fits a phone: each of its columns is in view."""
        (self.folder / "matrix.yaml").write_text(MATRIX.format(plan=self.plan(PLAN.format(transactions=300))))
        self.status(1, self.rig("matrix", "matrix.yaml", "-o", "matrix"))
        browser = Browser(*DESKTOP)
        self.addCleanup(browser.close)
        for width, height in ((1280, 900), PHONE):
            for dark in (False, True):
                browser.become(width, height, dark)
                browser.open(self.folder / "matrix/matrix.html")
                self.fits(browser)
                ends = browser.run("return [...document.querySelectorAll('.grid th, .grid td')].map(at => at.getBoundingClientRect().right)")
                self.assertGreaterEqual(len(ends), 9)
                self.assertLessEqual(max(ends), width)
        self.assertEqual(browser.errors(), [])

    def test_the_timeline(self):
        page, results = self.report(SHORT)
        long_page, long_results = self.report(LONG)
        browser = Browser(*DESKTOP)
        self.addCleanup(browser.close)
        browser.become(*DESKTOP, False)
        browser.open(page)
        browser.requests()  # those of the browser's own first page
        self.by_mouse(browser, results)
        self.by_filter(browser, results)
        self.by_keys(browser)
        light = browser.screenshot()
        self.fits(browser)
        self.assertGreater(self.ink(browser), 20)
        browser.become(*DESKTOP, True)
        browser.run("scrollTo(0, 0)")
        self.assertNotEqual(light, browser.screenshot())
        self.assertEqual(browser.run("return getComputedStyle(document.body).backgroundColor"), "rgb(13, 17, 23)")
        for dark in (False, True):
            browser.become(*PHONE, dark)
            browser.open(page)
            self.fits(browser)
            self.look_at_witness(browser)
            self.assertGreater(self.ink(browser), 20)
            if SHOTS.name:
                browser.screenshot(SHOTS / f"phone-{'dark' if dark else 'light'}.png")
        browser.become(*DESKTOP, False)
        browser.open(long_page)
        self.look_at_witness(browser)
        total = sum(long_results["history"][of] for of in ("ok", "fail", "info"))
        self.assertIn(f" of {total:,} transactions are in this page",
                      browser.run("return document.getElementById('tl-drawn').textContent"))
        self.assertIn("of those in this page", browser.until(STATE))
        self.assertEqual(browser.errors(), [])
        foreign = [url for url in browser.requests() if not url.startswith((page.as_uri(), long_page.as_uri()))]
        self.assertEqual(foreign, [])


if __name__ == "__main__":
    if programs() is None:
        print("no chromium or no chromedriver: skipped")
        sys.exit(77)
    main()
