"""The function or class around a line, found by a scan upwards.

A parser would take 14 ms at 3,000 lines instead of 0.1 ms, and a file that is being edited often
does not parse. The scan follows indentation, so it needs code that is indented as usual. A wrong
answer costs a needless notice, or one too few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """A function, method or class by its full name (`Option.__init__`), and its first line.

    The name is empty for a statement outside of functions and classes.
    """

    name: str
    start: int


_PYTHON: Final = rb"(?:async\s+)?(?:def|class)\s+(?P<name>\w+)"
_JAVASCRIPT: Final = (
    rb"(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    rb"(?:function\b\s*\*?|class|interface|namespace|enum)\s+(?P<name>[\w$]+)"
    rb"|(?:export\s+)?(?:const|let|var)\s+(?P<variable>[\w$]+)\b[^=]*="
    rb"\s*(?:async\b\s*)?(?:function\b|class\b|\([^()]*\)[^=]*=>|[\w$]+\s*=>|\($)"
    rb"|(?!(?:if|for|while|switch|catch|return|function|else|do|try|await|new)\b)"
    rb"(?:(?:public|private|protected|static|readonly|override|async|get|set)\s+)*\*?\s*"
    rb"(?P<method>[\w$#]+)\s*(?:<[^>]*>)?\([^;]*$"
)
_GO: Final = (
    rb"func\s+(?:\(\s*\w*\s*\*?(?P<owner>\w+)[^)]*\)\s*)?(?P<name>\w+)"
    rb"|type\s+(?P<type>\w+)\s+(?:struct|interface)\b"
)
_RUST: Final = (
    rb"(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+(?:\"[^\"]*\"\s+)?)*"
    rb"(?:fn|struct|enum|trait|mod|union)\s+(?P<name>\w+)"
    rb"|(?:unsafe\s+)?impl\b(?:\s*<[^>]*>)?\s+(?:[^{]*\bfor\s+)?(?P<type>\w+)"
)
_C_LIKE: Final = (
    rb"(?:[\w:<>,\[\]@*&~]+\s+)*(?:class|struct|interface|enum|namespace|record|union)\s+"
    rb"(?P<type>\w+)[^;()]*$"
    rb"|(?!(?:if|for|while|switch|catch|return|else|do|try|new|throw|case|foreach|using|lock)\b)"
    rb"(?:[\w:<>,\[\]*&~@?.]+\s+)*[*&]*(?P<name>~?[\w:~]+)\s*\([^;]*$"
)
_RUBY: Final = rb"(?:def|class|module)\s+(?:self\.)?(?P<name>[\w:?!=]+)"

_ENDINGS: Final = {
    "py pyi pyx": _PYTHON,
    "js jsx ts tsx mjs cjs mts cts": _JAVASCRIPT,
    "go": _GO,
    "rs": _RUST,
    "c h cc hh cpp hpp cxx java cs kt scala swift php dart m mm": _C_LIKE,
    "rb rake": _RUBY,
}
_PATTERNS: Final = {
    ending: re.compile(pattern)
    for endings, pattern in _ENDINGS.items()
    for ending in endings.split()
}
# Lines that say nothing about the block they are in: closing brackets, a brace of its own line,
# comments, labels and preprocessor lines.
_NEUTRAL: Final = re.compile(
    rb"[)\]}#]|\{\s*$|//|/\*|\*[\s/]|end\b|else\b|elif\b|except\b|finally\b"
)
_DECORATOR: Final = re.compile(rb"\s*(?:@[\w.]|#\[)")
_TAB: Final = 4
# A file without functions is scanned no further up than this.
FURTHEST: Final = 5_000


def find_unit(lines: Sequence[bytes], line: int, path: str) -> Unit | None:
    """Return the unit around a line; None if the line is blank and outside of all units."""
    pattern = _PATTERNS.get(path.rpartition(".")[2].lower())
    line = _skip_decorators(lines, line)
    enclosing = list(_list_enclosing(lines, line, pattern))
    named = [(name, at) for name, at in enclosing if name]
    if named:
        return Unit(".".join(name for name, _ in reversed(named)), named[0][1])
    return Unit("", enclosing[-1][1]) if enclosing and lines[line : line + 1] != [b""] else None


def find_shared_units(
    lines: Sequence[bytes], path: str, mine: Sequence[int], theirs: Sequence[int]
) -> dict[Unit, tuple[int, ...]]:
    """Return the units that have a line of `mine` and one of `theirs`, with the latter lines."""
    units = {find_unit(lines, line, path) for line in mine} - {None}
    shared: dict[Unit, tuple[int, ...]] = {}
    for line in theirs:
        unit = find_unit(lines, line, path)
        if unit is not None and unit in units:
            shared[unit] = (*shared.get(unit, ()), line)
    return shared


def _skip_decorators(lines: Sequence[bytes], line: int) -> int:
    """A decorator belongs to the function under it."""
    at = line
    while at < len(lines) - 1 and _DECORATOR.match(lines[at]):
        at += 1
    return at


def _list_enclosing(
    lines: Sequence[bytes], line: int, pattern: re.Pattern[bytes] | None
) -> Iterator[tuple[str, int]]:
    """Yield the lines that open a block around this one, innermost first: name or "", and place."""
    if not 0 <= line < len(lines):
        return
    bound: int | None = None
    for at in range(line, max(-1, line - FURTHEST), -1):
        text = lines[at].lstrip()
        if not text:
            continue
        indent = _measure_indent(lines[at][: len(lines[at]) - len(text)])
        if bound is not None and indent >= bound:
            continue
        match = pattern.match(text) if pattern else None
        if match is None and _NEUTRAL.match(text):
            bound = indent + 1 if bound is None else bound
            continue
        bound = indent
        yield _get_name(match), at
        if bound == 0:
            return


def _get_name(match: re.Match[bytes] | None) -> str:
    if match is None:
        return ""
    names = {
        key: value.decode("utf-8", "replace") for key, value in match.groupdict().items() if value
    }
    owner = names.pop("owner", "")
    name = next(iter(names.values()), "").replace("::", ".")
    return f"{owner}.{name}" if owner else name


def _measure_indent(space: bytes) -> int:
    return len(space.expandtabs(_TAB))
