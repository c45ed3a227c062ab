"""A slow second implementation: every line carries its author. Tests compare the real one with it.

`Oracle.cells` has one cell for each line of the base and each line of the file, in order. It shares
no code with `moot.lines`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count


@dataclass
class Cell:
    """A line: who inserted it (if it is not in the base), and who deleted it (if it is)."""

    text: bytes
    in_base: bool
    owner: str | None = None  # who inserted it, or who deleted it
    is_changed: bool = False  # inserted, or deleted

    @property
    def is_shown(self) -> bool:
        return not (self.in_base and self.is_changed)


@dataclass
class Oracle:
    """A file of a few lines with unique texts."""

    cells: list[Cell]
    numbers: count[int] = field(default_factory=lambda: count(1))

    @classmethod
    def of(cls, base_lines: int) -> Oracle:
        return cls([Cell(b"base%d" % at, in_base=True) for at in range(base_lines)])

    @property
    def base(self) -> list[bytes]:
        return [cell.text for cell in self.cells if cell.in_base]

    @property
    def file(self) -> list[bytes]:
        return [cell.text for cell in self.cells if cell.is_shown]

    def version(self, agents: Collection[str | None]) -> list[bytes]:
        """The base with the changes of these agents only."""
        return [
            cell.text
            for cell in self.cells
            if not cell.is_changed or (cell.owner in agents) != cell.in_base
        ]

    def lines_of(self, agent: str | None) -> list[bytes]:
        """The lines in the file that the agent inserted."""
        return [
            cell.text
            for cell in self.cells
            if cell.is_changed and not cell.in_base and cell.owner == agent
        ]

    def runs(self) -> list[tuple[int, int]]:
        """Longest sequences of changes of one owner: from cell, to cell."""
        runs: list[tuple[int, int]] = []
        for at, cell in enumerate(self.cells):
            if not cell.is_changed:
                continue
            if runs and runs[-1][1] == at and self.cells[at - 1].owner == cell.owner:
                runs[-1] = (runs[-1][0], at + 1)
            else:
                runs.append((at, at + 1))
        return runs

    def shown_before(self, place: int) -> int:
        return sum(cell.is_shown for cell in self.cells[:place])

    def is_refused(self, agent: str, start: int, end: int) -> bool:
        if start == end and not self.cells:
            return False
        if not self.base and any(c.owner not in (None, agent) for c in self.cells):
            return True
        for first, last in self.runs():
            if self.cells[first].owner in (None, agent):
                continue
            shown = [place for place in range(first, last) if self.cells[place].is_shown]
            at = self.shown_before(first)
            if not shown and (start < at < end or start == end == at):
                return True
            if shown and start < end and any(start <= at + n < end for n in range(len(shown))):
                return True
            if shown and start == end and at < start < at + len(shown):
                return True
        return False

    def edit(self, agent: str, start: int, end: int, new_lines: int) -> None:
        """Make an edit that is not refused, in a file without lines that are nobody's."""
        places = [place for place, cell in enumerate(self.cells) if cell.is_shown]
        new = [
            Cell(b"%s%d" % (agent.encode(), next(self.numbers)), False, agent, True)
            for _ in range(new_lines)
        ]
        if start == end:
            place = self._gap(agent, places[start - 1] if start else -1)
            self.cells[place:place] = new
            return
        last = places[end - 1]
        self.cells[last + 1 : last + 1] = new
        for place in reversed(places[start:end]):
            cell = self.cells[place]
            if cell.in_base:
                cell.owner, cell.is_changed = agent, True
            else:
                del self.cells[place]

    def _gap(self, agent: str, previous: int) -> int:
        """Where inserted lines go between the deleted cells that follow a shown cell."""
        place = previous + 1
        while 0 < place < len(self.cells) and (
            self.cells[place - 1].is_changed
            and not self.cells[place].is_shown
            and self.cells[place].owner == self.cells[place - 1].owner
        ):
            place += 1  # the run of the line before goes on
        if place and self.cells[place - 1].is_changed and self.cells[place - 1].owner == agent:
            return place
        for at in range(place, len(self.cells)):
            if self.cells[at].is_shown:
                break
            if self.cells[at].owner == agent:
                return at + 1
        return place
