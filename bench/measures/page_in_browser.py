"""From a commit to the page in a real browser, while a hundred listen; and what a page weighs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import quantiles

from playwright.sync_api import Page, sync_playwright
from tests.web.browser import FLAGS, find_chromium
from tests.web.server import Visitor

from bench.figure import Figure, at_most, value
from bench.ground import Errands, executor, opened
from bench.rounds import percentiles
from moot.surfaces.web.app import read_static_files

LISTENERS = 100
# Notes when the count of events on the first screen changes.
WATCH = """() => {
  const count = () => (document.querySelector('[aria-labelledby=h-record]')?.innerText
    .match(/(\\d+) events/) || [])[1];
  window.changedAt = 0;
  let before = count();
  new MutationObserver(() => {
    const now = count();
    if (now !== before) { before = now; window.changedAt = Date.now(); }
  }).observe(document.querySelector('main'),
    { subtree: true, childList: true, characterData: true });
}"""


def see_in_browser(place: Path, visitor: Visitor, rounds: int) -> Iterator[Figure]:
    scripts = [f for name, f in read_static_files().items() if name.endswith(".js")]
    most = max(len(file.body) for file in scripts) / 1000
    yield value("largest script of the page", "KB", most, target=at_most(20))
    path = find_chromium()
    if path is None:
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        page = browser.new_page()
        sizes: list[int] = []
        page.on("requestfinished", lambda each: sizes.append(each.sizes()["responseBodySize"]))
        page.goto(f"http://{visitor.host}/enter#{visitor.token}")
        page.wait_for_selector("#standing[data-state=live]")
        yield value("first paint of the page", "KB", sum(sizes) / 1000, target=at_most(60))
        waits = _wait_for_commits(page, place, visitor, rounds)
        browser.close()
    yield value(
        f"from a commit to the page, with {LISTENERS} listeners, p95",
        "ms",
        quantiles(waits, n=20, method="inclusive")[18],
        target=at_most(300),
        more=percentiles(waits),
    )


def _wait_for_commits(page: Page, place: Path, visitor: Visitor, rounds: int) -> list[float]:
    waits = []
    page.evaluate(WATCH)
    with ExitStack() as stack:
        for _ in range(LISTENERS):  # what they are sent stays unread in the system's buffers
            stack.enter_context(visitor.listen())
        space = stack.enter_context(opened(place))
        append = executor(space, Errands())
        for _ in range(rounds):
            time.sleep(0.5)  # each is told at most four times a second
            page.evaluate("() => { window.changedAt = 0 }")
            append()
            committed = time.time() * 1000
            shown = page.wait_for_function("() => window.changedAt", timeout=30_000).json_value()
            waits.append(max(0.0, shown - committed))
    return waits
