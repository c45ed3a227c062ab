"""Writes docs/pictures/page.png: the first screen of `moot serve`, as a real Chromium shows it.

    python -m tools.make_page_picture

A workspace is made in a temporary repository, in which agents work, meet, argue and owe each other
answers; the page of it is opened and photographed. Look at the picture before you commit it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.project import CRANE, OTTER, Project
from tests.web.browser import chromium, find_chromium, new_tab
from tests.web.busy_project import make_lively
from tests.web.busy_project_decisions import argue
from tests.web.server import ServerThread

FILE: Final = Path(__file__).parents[1] / "docs" / "pictures" / "page.png"
WIDTH, HEIGHT = 1100, 660
MOST_BYTES: Final = 150_000


def make_workspace(folder: Path) -> Project:
    """A repository with two agents who have joined it, and all that happens between them."""
    root = folder / "shop"
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True, timeout=30)
    project = Project(root, folder / "keys")
    project.ok("init")
    for name, work in ((OTTER, "T-7.1"), (CRANE, "T-7.2")):
        project.ok("join", "--register", name, "--work", work)
    make_lively(project)
    argue(project)
    return project


def photograph(project: Project) -> bytes:
    server = ServerThread(project)
    try:
        with chromium() as browser:
            tab = new_tab(browser)
            tab.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            tab.open(server.address)
            tab.page.get_by_role("button", name="Check now").click()
            tab.see("INTACT")
            tab.page.evaluate("window.scrollTo(0, 0)")
            return tab.page.screenshot()
    finally:
        server.stop()


def main() -> int:
    if find_chromium() is None:
        sys.stderr.write("no Chromium on this machine\n")
        return 1
    folder = Path(tempfile.gettempdir(), "work")  # its name is in the picture
    folder.mkdir()
    try:
        picture = photograph(make_workspace(folder))
    finally:
        shutil.rmtree(folder)
    if len(picture) > MOST_BYTES:
        sys.stderr.write(f"the picture has {len(picture)} bytes, {MOST_BYTES} is the most\n")
        return 1
    FILE.write_bytes(picture)
    sys.stdout.write(f"wrote docs/pictures/{FILE.name}: {len(picture)} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
