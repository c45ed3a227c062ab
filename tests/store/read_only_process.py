"""A process that reads a ledger which it may not write.

    python -m tests.store.read_only_process PATH WHO

It stops for a word once it has opened the file, and again while it reads.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from moot.core.errors import MootError
from moot.store.sqlite.read_only import SqliteReader
from tests.store.child import ROOT, Child, tell, wait_for_word
from tests.unprivileged import become_nobody


class Looker(Child):
    def __init__(self, path: Path, within: Sequence[str] = ()) -> None:
        """`within`: a command that runs this one, and forbids what permissions else would."""
        who = "as-started" if within else "nobody"
        self.process = subprocess.Popen(
            [*within, sys.executable, "-m", "tests.store.read_only_process", str(path), who],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.said = []

    def outcome(self) -> list[str]:
        """Let it go on to its end; the last thing it says."""
        if self.process.poll() is None:
            self.go_on()
        assert self.end() == 0, self.said
        return self.said[-1]

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\ngo\n")
        self.process.stdin.flush()


def look(path: Path) -> int:
    with SqliteReader(path) as reader:
        tell("opened")
        wait_for_word()
        assert reader.integrity() == []
        with reader.read() as view:
            first, *others = view.streams()
            count = len(list(view.records(first[0])))
            tell("reading")
            wait_for_word()
            return count + sum(len(list(view.records(name))) for name, _ in others)


def main(path: str, who: str) -> None:
    if who == "nobody":
        become_nobody()
    try:
        tell("read", look(Path(path)))
    except MootError as error:
        tell(type(error).__name__, error.code if error.hint else "no hint")


if __name__ == "__main__":
    main(*sys.argv[1:])
