"""The options and operands of a program's arguments, by the table of those that take a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from moot.flows.guard.shell.values import Word


class Arguments(NamedTuple):
    """`flags` are the options: short ones as single letters, long ones with their dashes.

    `values` are those given to an option, by its name. `operands` is the rest, `marked` what
    is behind `--`, `words` all of it as it was given.
    """

    flags: frozenset[str]
    values: dict[str, Word]
    operands: tuple[Word, ...]
    marked: tuple[Word, ...]
    has_mark: bool
    words: tuple[Word, ...] = ()

    def has(self, *names: str) -> bool:
        return any(name in self.flags for name in names)

    @property
    def all_operands(self) -> tuple[Word, ...]:
        return self.operands + self.marked


def read_arguments(
    words: Iterable[Word], with_value: str = "", *, stops_at_operand: bool = False
) -> Arguments:
    """`with_value` are the options that take a value: "m e --source" for `-m`, `-e`, `--source`.

    `stops_at_operand`: as for `env` and `sudo`, options end where the program begins.
    """
    taking = frozenset(with_value.split())
    flags: set[str] = set()
    values: dict[str, Word] = {}
    operands: list[Word] = []
    given = tuple(words)
    rest = iter(given)
    for word in rest:
        text = word.text
        if text == "--":
            return Arguments(frozenset(flags), values, tuple(operands), tuple(rest), True, given)
        if not text.startswith("-") or text == "-":
            operands.append(word)
            if stops_at_operand:
                operands += rest
                break
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            flags.add(name)
            if equals:
                values[name] = Word(value)
            elif name in taking and (following := next(rest, None)):
                values[name] = following
        else:
            _read_short(text, taking, flags, values, rest)
    return Arguments(frozenset(flags), values, tuple(operands), (), False, given)


def _read_short(
    text: str,
    taking: frozenset[str],
    flags: set[str],
    values: dict[str, Word],
    rest: Iterator[Word],
) -> None:
    """`-xfd`, `-mTEXT`, `-m TEXT`."""
    for place, letter in enumerate(text[1:], 1):
        flags.add(letter)
        if letter in taking:
            if text[place + 1 :]:
                values[letter] = Word(text[place + 1 :])
            elif following := next(rest, None):
                values[letter] = following
            return
