"""`python -m tools.reference`."""

from __future__ import annotations

import sys

from tools.reference.pages import FOLDER, NOT_IN_GIT, pages


def main(words: list[str]) -> int:
    stale = 0
    for name, text in pages().items():
        file = FOLDER / name
        if file.is_file() and file.read_text("utf-8") == text:
            continue
        if "--check" in words and name in NOT_IN_GIT:
            continue
        stale += 1
        if "--check" not in words:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        print(f"{'stale' if '--check' in words else 'wrote'} {name}")
    return 1 if stale and "--check" in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
