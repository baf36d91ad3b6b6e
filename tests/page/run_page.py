"""The page of a report in headless Chromium: its timeline by mouse, by keyboard and on a phone."""
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
LONG, SHORT = 45000, 2000
DESKTOP, PHONE = (1300, 1000), (390, 844)
OPEN_ALL = "for (const part of document.querySelectorAll('details')) part.open = true"
STATE = "return document.getElementById('tl-state').textContent"
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
            browser.run("document.getElementById('tl-state').textContent = ''")
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

    def test_the_timeline(self):
        page, results = self.report(SHORT)
        long_page, long_results = self.report(LONG)
        profile = pathlib.Path(os.environ.get("RIG_TEST_SCREENSHOTS", ""))
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
            if profile.name:
                browser.screenshot(profile / f"phone-{'dark' if dark else 'light'}.png")
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
