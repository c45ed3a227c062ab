"""Run the commands in the `console` blocks of our pages, and put what they print now below them.

    python -m tools.make_page_outputs README.md docs/start/demo.md

Only what differs is written; read the difference before you commit it. Without names all pages
are run. What a test compares, and how the commands are run, is `tests/docs/test_console_blocks.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.test_console_blocks import ROOT, comparable, run, steps, with_blocks


def main(names: list[str]) -> int:
    for page in [ROOT / name for name in names] or with_blocks():
        if rewrite(page):
            print(f"wrote {page.relative_to(ROOT)}")
    return 0


def rewrite(page: Path) -> bool:
    """Put the outputs of a page right; True if one was not."""
    before = text = page.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        shop = Path(folder).resolve() / "shop"
        (shop / "src" / "auth").mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet", str(shop)], check=True)
        for step in steps(before):
            printed = run(step.command, shop)
            if comparable(printed) == comparable(step.output):
                continue
            at_home = re.sub(rf"{re.escape(str(shop.parent))}\b", "/home/you", printed)
            lines = "".join(f"{line.rstrip()}\n" for line in at_home.strip("\n").splitlines())
            old, new = f"$ {step.command}\n{step.output}", f"$ {step.command}\n{lines}"
            text = text.replace(old, new, 1)
    page.write_text(text, "utf-8")
    return text != before


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
