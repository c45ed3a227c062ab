"""The files that a patch names: added, updated, deleted, and both sides of a move.

Codex and opencode read the same headers a little differently. Codex strips Unicode white space from
the whole line and takes the rest after one blank; opencode needs no blank and trims the name as
JavaScript does, which also strips a byte order mark. Where they differ, every reading is a name:
to claim one file too many costs less than to miss one. A line that looks like a header and is none
to either of them is not skipped: another version may read it, so the patch is held back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from moot.surfaces.hooks.call import Unreadable

BEGIN: Final = "*** Begin Patch"

# What `str.trim` strips in Rust and in JavaScript; Python's own `strip` strips neither set exactly.
_COMMON_BLANKS: Final = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
RUST_BLANKS: Final = _COMMON_BLANKS + "\x85"
JAVASCRIPT_BLANKS: Final = _COMMON_BLANKS + "\ufeff"

_MARKERS: Final = ("*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:")
_STARS: Final = ("*", "\uff0a", "\u2217")
_ACTS: Final = "add|update|delete|create|remove|modify|edit|rename|move|copy"
_HEADER_LIKE: Final = re.compile(
    rf"\*{{2,}}\s*(?:(?:{_ACTS})\s*file\b|(?:move|rename|copy)\s*to\b|(?:{_ACTS})\s*:)"
)


def files_in_patch(patch: str) -> tuple[str, ...]:
    """Every file the patch names, in order, without repeats."""
    names: dict[str, None] = {}
    for line in patch.split("\n"):
        if not any(star in line for star in _STARS):
            continue
        readings = dict.fromkeys(_readings(line))
        if not readings and _looks_like_header(line):
            raise Unreadable(
                f"a line of the patch looks like a header and is none: {line.strip()[:80]!r}",
                code="header_not_understood",
                hint="write it as `*** Update File: PATH`, with Add, Update or Delete, or"
                " `*** Move to: PATH`",
            )
        names.update(readings)
    return tuple(names)


def _readings(line: str) -> Iterator[str]:
    """The names that one of the tools would read in this line; none if it is no header."""
    for blanks in (RUST_BLANKS, JAVASCRIPT_BLANKS):
        text = line.strip(blanks)
        for marker in _MARKERS:
            if text.startswith(marker):
                rest = text[len(marker) :]
                yield from filter(None, (rest.removeprefix(" "), rest.strip(blanks)))
    if line.startswith(_MARKERS[3]):  # Codex once left the target of a move as it stood
        yield from filter(None, (line[len(_MARKERS[3]) :].rstrip("\r").removeprefix(" "),))


def _looks_like_header(line: str) -> bool:
    """In any case, with letters and signs of other widths, and with invisible ones in between."""
    if line.startswith(("+", "-")):
        return False
    visible = "".join(letter for letter in line if unicodedata.category(letter) != "Cf")
    plain = unicodedata.normalize("NFKC", visible).replace("\u2217", "*").strip().lower()
    return _HEADER_LIKE.match(plain) is not None
