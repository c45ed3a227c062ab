"""What trials have shown, a line of JSON each, so that an interrupted run goes on where it was."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Final

from tools.mutants.nearest import find_package
from tools.mutants.sites import KINDS, Mutant
from tools.mutants.trial import SURVIVED

_HEAD: Final = "| package | kind | mutants there | tried | noticed | survived | noticed % |"


class Results:
    def __init__(self, file: Path, root: Path) -> None:
        self.file = file
        self.root = root
        lines = file.read_text().splitlines() if file.exists() else []
        self.known: dict[str, dict[str, object]] = {
            row["id"]: row for row in map(json.loads, lines)
        }

    def knows(self, mutant: Mutant) -> bool:
        return mutant.id in self.known

    def survived(self, mutant: Mutant) -> bool:
        return self.known.get(mutant.id, {}).get("ended") == SURVIVED

    def add(self, mutant: Mutant, ended: str) -> None:
        row: dict[str, object] = {
            "id": mutant.id,
            "package": find_package(mutant.path, self.root / "src" / "moot"),
            "kind": mutant.kind,
            "line": mutant.line,
            "change": mutant.change,
            "ended": ended,
        }
        self.known[mutant.id] = row
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as out:
            out.write(json.dumps(row) + "\n")

    def make_table(self, offered: list[Mutant]) -> str:
        """Make the table of docs/quality.md: a row for each package and kind."""
        source = self.root / "src" / "moot"
        there = Counter((find_package(one.path, source), one.kind) for one in offered)
        lines = [_HEAD, "|---|---|--:|--:|--:|--:|--:|"]
        for package, kind in sorted(there, key=lambda row: (row[0], KINDS.index(row[1]))):
            ends = [
                self.known[one.id]["ended"]
                for one in offered
                if one.id in self.known
                and (find_package(one.path, source), one.kind) == (package, kind)
            ]
            alive = ends.count(SURVIVED)
            part = f"{100 * (len(ends) - alive) / len(ends):.0f}" if ends else "-"
            cells = (package, kind, there[package, kind], len(ends), len(ends) - alive, alive, part)
            lines.append(f"| {' | '.join(map(str, cells))} |")
        return "\n".join(lines)

    def list_survivors(self, offered: list[Mutant]) -> list[str]:
        return [
            f"{one.path.relative_to(self.root)}:{one.line}: {one.kind}: {one.change}"
            for one in offered
            if self.survived(one)
        ]
