"""A mutant in a process that has imported the module already.

A function is given the code of the changed one, wherever it is referred to; the rows that a line
has made are given a check that checks nothing. What is worked out while a module is imported cannot
be changed so: `NotLive`.
"""

from __future__ import annotations

import ast
import gc
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import force_setattr
from tools.mutants.sites import CHECK_OF_CALL, CHECKS_NOTHING, NO_CHECK, Mutant, change_tree

_ROW_IDS: Final = {"Rule": ("id", "code"), "ShapeField": ("name", "rule")}
_places: dict[int, list[tuple[str, int]]] = {}
_DEEP_ENOUGH: Final = 4


def remember_where_rules_are_made() -> None:
    """Before any table is imported: many rows have the same words, but each has a line."""
    try:
        from moot.core.findings import Rule
    except ImportError:  # a tree without rules
        return
    make = Rule.__init__

    def make_and_remember(self: Any, *values: Any, **more: Any) -> None:
        make(self, *values, **more)
        caller: FrameType | None = sys._getframe(1)
        places = _places.setdefault(id(self), [])
        # Not only who calls: many tables have a small function that makes their rows.
        while caller is not None and len(places) < _DEEP_ENOUGH:
            places.append((caller.f_code.co_filename, caller.f_lineno))
            caller = caller.f_back

    Rule.__init__ = make_and_remember  # type: ignore[method-assign]


class NotLive(Exception):
    """Only a fresh import shows this mutant."""


class Change(NamedTuple):
    """What `apply` does, and the lines of the function that does something else then."""

    apply: Callable[[], None]
    file: str
    lines: range
    line: int | None


class LiveCode:
    """The functions and rows of a package that exist in this process."""

    def __init__(self, source: Path) -> None:
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = {}
        self.rows: dict[tuple[str, ...], list[Any]] = {}
        self.rows_at: dict[tuple[str, int], list[Any]] = {}
        gc.unfreeze()  # what is frozen is not listed
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                if thing.__code__.co_filename.startswith(str(source)):
                    self.functions.setdefault(_key(thing.__code__), []).append(thing)
            elif (name := type(thing).__name__) in _ROW_IDS and hasattr(thing, "check"):
                ids = (str(getattr(thing, one)) for one in _ROW_IDS[name])
                self.rows.setdefault((name, *ids), []).append(thing)
                for place in _places.get(id(thing), ()):
                    self.rows_at.setdefault(place, []).append(thing)
        gc.freeze()

    def prepare(self, mutant: Mutant) -> Change:
        return self._prepare_row(mutant) if mutant.kind != "line" else self._prepare_code(mutant)

    def _prepare_row(self, mutant: Mutant) -> Change:
        if not mutant.change.endswith(CHECKS_NOTHING):  # a rule of the verifier, held by its table
            raise NotLive
        call = ast.parse(mutant.change.removesuffix(CHECKS_NOTHING), mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        name = call.func.id
        ids = [one.value for one in call.args if isinstance(one, ast.Constant)]
        rows = self.rows_at.get((str(mutant.path), mutant.line), [])
        if not rows:
            rows = self.rows.get((name, *map(str, ids)), [])
            if len(rows) > 1:  # the same words twice: which of them stands at this line?
                raise NotLive
        code = _find_code(rows[0].check) if rows else None
        if code is None:
            raise NotLive
        instead = eval(CHECK_OF_CALL[name].instead if name in CHECK_OF_CALL else NO_CHECK)

        def apply() -> None:
            put = force_setattr if isinstance(rows[0], msgspec.Struct) else setattr
            for row in rows:
                put(row, "check", instead)

        return Change(apply, code.co_filename, _lines_of(code), None)

    def _prepare_code(self, mutant: Mutant) -> Change:
        text, file = mutant.path.read_text(), str(mutant.path)
        before = compile(text, file, "exec", dont_inherit=True)
        after = compile(change_tree(mutant), file, "exec", dont_inherit=True)
        pairs = [pair for outer in _list_changed(before, after) for pair in _with_inner(*outer)]
        swaps = [
            (function, new) for old, new in pairs for function in self.functions.get(_key(old), [])
        ]
        alike = all(old.co_freevars == new.co_freevars for old, new in pairs)
        if not swaps or not alike:
            raise NotLive

        def apply() -> None:
            for function, new in swaps:
                function.__code__ = new

        return Change(apply, file, _lines_of(pairs[0][0]), mutant.line)


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _find_code(check: object) -> CodeType | None:
    """The code of the check itself, not of what is wrapped around it."""
    while hasattr(check, "func"):
        check = check.func
    code = getattr(inspect.unwrap(check), "__code__", None) if callable(check) else None
    if code is not None and "check" in code.co_freevars:
        cell = check.__closure__[code.co_freevars.index("check")]  # type: ignore[attr-defined]
        return _find_code(cell.cell_contents)
    return code


def _lines_of(code: CodeType) -> range:
    """The body: the line of `def` runs when the module is imported."""
    own = [line for _, _, line in code.co_lines() if line]
    inner = [_lines_of(one).stop - 1 for one in code.co_consts if isinstance(one, CodeType)]
    first = code.co_firstlineno
    last = max([*own, *inner, first])
    return range(min([line for line in own if line > first], default=first), last + 1)


def _list_changed(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The outermost functions that differ; a module or class that does itself cannot be swapped."""
    if before.co_flags & inspect.CO_OPTIMIZED:
        if before != after:
            yield before, after
        return
    if _shell(before) != _shell(after):
        raise NotLive
    for old, new in zip(_inner(before), _inner(after), strict=True):
        yield from _list_changed(old, new)


def _with_inner(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Closures that exist already keep their code, so theirs is changed as well."""
    yield old, new
    if [one.co_name for one in _inner(old)] == [one.co_name for one in _inner(new)]:
        for inner in zip(_inner(old), _inner(new), strict=True):
            yield from _with_inner(*inner)


def _inner(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _shell(code: CodeType) -> tuple[object, ...]:
    consts = [repr(one) for one in code.co_consts if not isinstance(one, CodeType)]
    return code.co_code, code.co_names, tuple(consts), len(_inner(code))
