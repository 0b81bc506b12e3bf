"""Seconds to make the report of a million rows and three models, and to see it in Chromium.

python -m benchmarks.report [--rows N] [--models K] [--prevalence P] [--chromium PATH]

A page is timed from the request until its first chart, and until its last, stand in the document.
The browser is driven from outside, which costs it some tenths of a second that a reader does not
wait for; the second pair of numbers is the page's own clock, with nobody watching.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import evaluation

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
CLOCK = """<script>
(function wait() {
  if (!document.documentElement.dataset.ready) { setTimeout(wait, 5); return; }
  document.title = "ready after " + performance.now();
})();
</script></body>"""
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--prevalence", type=float, default=0.02)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        seconds = make(page, options.rows, options.prevalence, options.models)
        print(f"made in {seconds:.1f} s")
        print(f"{page.stat().st_size / 1e6:.1f} MB")
        for first, last in driven(page, options.chromium, options.repeats):
            print(f"driven: first chart after {first:.2f} s, all after {last:.2f} s")
        for seconds in unwatched(page, options.chromium, options.repeats):
            print(f"unwatched: all charts after {seconds:.2f} s")
    return 0


def make(page: Path, rows: int, prevalence: float, models: int) -> float:
    label, scores = evaluation.models(rows, prevalence, models)
    start = time.perf_counter()
    evaluation.report(label, scores, page)
    return time.perf_counter() - start


def driven(page: Path, chromium: str, repeats: int) -> list[tuple[float, float]]:
    from playwright.sync_api import sync_playwright

    seconds = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        for _ in range(repeats):
            tab = browser.new_page(viewport={"width": 1200, "height": 900})
            start = time.perf_counter()
            tab.goto(page.as_uri())
            tab.wait_for_selector("#pr-chart .main-svg", state="attached")
            first = time.perf_counter() - start
            tab.wait_for_selector("html[data-ready=true]")
            seconds.append((first, time.perf_counter() - start))
            tab.close()
        browser.close()
    return seconds


def unwatched(page: Path, chromium: str, repeats: int) -> list[float]:
    # The page's policy allows no other script, so it is taken out of the copy that has a clock.
    timed = page.with_name("timed.html")
    timed.write_text(POLICY.sub("", page.read_text()).replace("</body>", CLOCK))
    seconds = []
    for _ in range(repeats):
        command = [chromium, "--headless", *ARGUMENTS, f"--user-data-dir={page.parent}/profile"]
        command += ["--timeout=10000", "--dump-dom", timed.as_uri()]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if (found := re.search(r"<title>ready after ([0-9.]+)", shown)) is None:
            raise RuntimeError("the page was not ready in time")
        seconds.append(float(found[1]) / 1000)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
