"""A generated repository of 150 modules, and changes in it that can all be had at once.

A change is a new value in a function of its own, or a new line at the end of a table. No two
changes contradict each other, so whatever is missing at the end was lost on the way.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import msgspec

from bench.loss.repository import write_file

MODULES: Final = 150
FUNCTIONS: Final = 10
SHARED: Final = ("shop/prices.py", "shop/routes.py", "shop/settings.py")
SHARED_FUNCTIONS: Final = 40
CHANGES: Final = 6  # of each agent
WHOLE_FILE: Final = 0.4  # how often a tool writes the whole file, as in bench.loss
IN_TABLE: Final = 0.5  # of the changes of shared files
THINKING: Final = (20.0, 60.0)  # seconds of an agent at work, before they are scaled
END_OF_TABLE: Final = "]  # the end of the table"
OLD_VALUE: Final = 0


class Change(msgspec.Struct, frozen=True):
    """`number` is unique in a course; `place` is a function of the file, or -1 for its table."""

    number: int
    agent: int
    path: str
    place: int
    is_whole_file: bool
    thinking: float

    @property
    def value(self) -> int:
        return 1_000 + self.number

    @property
    def old(self) -> str:
        return END_OF_TABLE if self.place < 0 else _return_line(self.place, OLD_VALUE)

    @property
    def new(self) -> str:
        if self.place < 0:
            return f"    {self.value},\n{END_OF_TABLE}"
        return _return_line(self.place, self.value)

    @property
    def mark(self) -> str:
        """A line that is in the file if, and only if, this change is."""
        return f"    {self.value},\n" if self.place < 0 else self.new

    def is_in(self, text: str) -> bool:
        return self.mark in text

    def apply(self, text: str) -> str:
        return text if self.is_in(text) else text.replace(self.old, self.new, 1)


def choose_changes(seed: int, agents: int, overlap: float) -> list[Change]:
    """The same for every arm. `overlap`: of the changes, those of files that all agents share."""
    chance = random.Random(f"{seed} {agents} {overlap}")
    places = {path: list(range(SHARED_FUNCTIONS)) for path in SHARED}
    for path in sorted(places):
        chance.shuffle(places[path])
    own = {agent: _own_modules(agent) for agent in range(agents)}
    changes = list[Change]()
    for agent in range(agents):
        for _ in range(CHANGES):
            if chance.random() < overlap:
                path = chance.choice(SHARED)
                place = -1 if chance.random() < IN_TABLE else places[path].pop()
            else:
                path, place = chance.choice(own[agent]), chance.randrange(FUNCTIONS)
                own[agent].remove(path)
            whole, thinking = chance.random() < WHOLE_FILE, round(chance.uniform(*THINKING), 1)
            changes.append(Change(len(changes), agent, path, place, whole, thinking))
    return changes


def _own_modules(agent: int) -> list[str]:
    return [_module(number) for number in range(agent * 10, agent * 10 + 10)]


def _module(number: int) -> str:
    return f"shop/part_{number // 10:02}/module_{number:03}.py"


def write_repository(folder: Path) -> None:
    """Its modules, as they are before anybody changes anything."""
    write_file(folder / ".gitignore", "__pycache__/\nlocks/\n")
    write_file(folder / "shop/__init__.py", "")
    for number in range(MODULES):
        write_file(folder / _module(number), _module_text(_module(number), FUNCTIONS))
        write_file(folder / Path(_module(number)).parent / "__init__.py", "")
    for path in SHARED:
        write_file(folder / path, _module_text(path, SHARED_FUNCTIONS))


def write_tests(folder: Path, changes: list[Change]) -> None:
    """A test for each change, written before the work: until then all of them fail."""
    lines = ["import importlib", "import unittest", "", "", "class Changes(unittest.TestCase):"]
    for change in changes:
        name = change.path.removesuffix(".py").replace("/", ".")
        lines += [f"    def test_change_{change.number}(self):"]
        lines += [f'        module = importlib.import_module("{name}")']
        if change.place < 0:
            lines += [f"        self.assertIn({change.value}, module.TABLE)", ""]
        else:
            lines += [f"        self.assertEqual(module.part_{change.place}(), {change.value})", ""]
    write_file(folder / "tests/__init__.py", "")
    write_file(folder / "tests/test_changes.py", "\n".join(lines))


def _module_text(path: str, functions: int) -> str:
    lines = [f'"""What the shop knows: {path}."""', "", "TABLE = [", "    1,", "    2,"]
    lines += [END_OF_TABLE, ""]
    for place in range(functions):
        lines += ["", f"def part_{place}():", f'    """Part {place}, with what it needs."""']
        lines += [f"    names = [str(each) for each in range({place + 1})]", "    if not names:"]
        lines += ["        raise ValueError(names)", _return_line(place, OLD_VALUE), ""]
    return "\n".join(lines)


def _return_line(place: int, value: int) -> str:
    return f"    return {value}  # of part {place}."
