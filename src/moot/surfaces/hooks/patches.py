"""Find the files that a patch names: added, updated, deleted, and both sides of a move.

Codex and opencode read the same headers slightly differently. Codex strips Unicode white space from
the whole line and takes the rest after one blank. opencode needs no blank and trims the name as
JavaScript does, which also strips a byte order mark. Where they differ, every reading counts as a
name: claiming one file too many costs less than missing one. If a line looks like a header but
neither tool reads it as one, the patch is refused, because another version of a tool may read it.
"""

from __future__ import annotations

import os
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
    """Return every file the patch names, in order, without repeats."""
    names: dict[str, None] = {}
    for line in patch.split("\n"):
        if not any(star in line for star in _STARS):
            continue
        readings = dict.fromkeys(_readings(line))
        if not readings and _looks_like_header(line):
            raise Unreadable(
                f"a line of the patch looks like a header but is not one: {line.strip()[:80]!r}",
                code="header_not_understood",
                hint="write it as `*** Update File: PATH`, with Add, Update or Delete, or"
                " `*** Move to: PATH`",
            )
        names.update(readings)
    return tuple(names)


def _readings(line: str) -> Iterator[str]:
    """Yield the names that one of the tools would read in this line; none if it is not a header."""
    for blanks in (RUST_BLANKS, JAVASCRIPT_BLANKS):
        text = line.strip(blanks)
        for marker in _MARKERS:
            if text.startswith(marker):
                rest = text[len(marker) :]
                yield from filter(None, (rest.removeprefix(" "), rest.strip(blanks)))
    if line.startswith(_MARKERS[3]):  # older versions of Codex did not trim the target of a move
        yield from filter(None, (line[len(_MARKERS[3]) :].rstrip("\r").removeprefix(" "),))


def _looks_like_header(line: str) -> bool:
    """True for a header in any case, with letters of other widths, or with invisible characters."""
    if line.startswith(("+", "-")):
        return False
    visible = "".join(letter for letter in line if unicodedata.category(letter) != "Cf")
    plain = unicodedata.normalize("NFKC", visible).replace("\u2217", "*").strip().lower()
    return _HEADER_LIKE.match(plain) is not None


# Patches that are sent through the shell, as a heredoc for `apply_patch`. A plain `cd FOLDER` is
# followed; any other change of folder is refused.

_APPLIES: Final = re.compile(
    r"(?:^|[;&|({`\n])[ \t\r\f\v]*+(?:[^\s;&|({`/]*+/)*+apply_?patch(?![\w.-])"
)
# Words that change a shell's folder, wherever they appear.
_CHANGES_FOLDER: Final = re.compile(
    r"(?<![\w./=-])(?:cd|chdir|pushd|popd)(?![\w./=-])"
    r"|\benv\b(?:(?!\s(?:-C|--chdir)|\benv\b)[^;&|\n])*+\s(?:-C|--chdir)"
)
_ENDED: Final = re.compile(r"^[ \t]*\*\*\* End Patch.*\n?", re.MULTILINE)
_STATEMENT: Final = r"(?:(?:\A|(?P<before>&&))\s*+|[;\n][ \t\r\f\v]*+)"
_FOLDER: Final = (
    r"'(?P<single>[^'\n]+)'|\"(?P<double>[^\"$`\\\n]+)\""
    r"|(?P<bare>(?!-)[^\s;&|()'\"$`<>*?\[\]{}\\!#~][^\s;&|()'\"$`<>*?\[\]{}\\!~]*"
    r"|~(?:/[^\s;&|()'\"$`<>*?\[\]{}\\!~]*)?)"
)
_PLAIN_CD: Final = re.compile(
    rf"{_STATEMENT}(?P<cd>cd)(?:[ \t]+(?:--[ \t]+)?(?:{_FOLDER}))?[ \t]*(?=&&|;|\n|\Z)"
)
# A quotation that does not end goes to the end of the text, and is kept.
_QUOTED: Final = re.compile(
    r"'[^']*+(?P<single>')?+|\"(?:[^\"\\]|\\.)*+(?P<double>\")?+", re.DOTALL
)
_INDEPENDENT: Final = re.compile(r"\|\||;|\n(?!\Z)")
# If one of these appears, a `cd` may apply to a part of the command only.
_NESTED: Final = re.compile(
    r"[(){}`]|(?<![\w./-])(?:if|then|else|for|while|until|do|case|eval)(?![\w./-])"
)
_MOST_FOLDERS: Final = 8
_MOST_CHANGES: Final = 50


def files_in_shell_patches(command: str, cwd: str) -> tuple[str, ...]:
    """Return the files of the patches in the command, absolute if `cwd` is; none without a
    patch."""
    if BEGIN not in command:
        if _APPLIES.search(command) is not None:
            raise _unreadable_patch()
        return ()
    script, _, rest = command.partition(BEGIN)
    names = files_in_patch(rest)
    if not names and _APPLIES.search(command) is not None:
        raise _unreadable_patch()
    here = _follow_cd(script, (cwd,))
    folders = dict.fromkeys(here)
    for between in _scripts_between_patches(rest):
        here = _follow_cd(between, here)
        folders.update(dict.fromkeys(here))
    return tuple(os.path.join(folder, name) for folder in folders for name in names)


def _scripts_between_patches(text: str) -> Iterator[str]:
    """Yield what the shell runs between two patches; `text` begins inside the first patch."""
    for part in text.split(BEGIN)[:-1]:
        _patch, *scripts = _ENDED.split(part)
        yield from scripts


def _follow_cd(script: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders in which the shell may be after `script`; several if a `cd` may fail."""
    words = [match.start() for match in _CHANGES_FOLDER.finditer(script)]
    if not words:
        return folders
    plain = list(_PLAIN_CD.finditer(script))
    if [match.start("cd") for match in plain] != words or _NESTED.search(_unquoted(script)):
        raise Unreadable(
            "the command changes the folder in a way that cannot be followed, then applies a patch",
            code="cd_not_understood",
            hint="write `cd FOLDER && apply_patch ...` with the folder written out, or apply the"
            " patch from the folder you are in",
        )
    if len(plain) > _MOST_CHANGES:
        raise _too_many_changes()
    for match in plain:
        folders = _after_cd(match, script, folders)
    return folders


def _unquoted(script: str) -> str:
    return _QUOTED.sub(lambda found: "" if found["single"] or found["double"] else found[0], script)


def _after_cd(match: re.Match[str], script: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    target = match["single"] or match["double"] or os.path.expanduser(match["bare"] or "~")
    reached = [os.path.join(folder, target) for folder in folders]
    # If the `cd` fails or is never run, the rest still runs in the old folder, unless all of it
    # depends on success (`&&`).
    rest = _unquoted(script[match.end() :])
    depends_on_it = _INDEPENDENT.search(rest) is None and rest.lstrip().startswith("&&")
    surely_run = match["before"] != "&&" and all(map(os.path.isdir, reached))
    folders = tuple(dict.fromkeys(reached if depends_on_it or surely_run else (*reached, *folders)))
    if len(folders) > _MOST_FOLDERS:
        raise _too_many_changes()
    return folders


def _too_many_changes() -> Unreadable:
    return Unreadable(
        "the command changes the folder too often to be followed, then applies a patch",
        code="cd_not_understood",
        hint="apply the patch in a separate command",
    )


def _unreadable_patch() -> Unreadable:
    return Unreadable(
        "the command applies a patch whose files cannot be read from it",
        code="patch_not_understood",
        hint="write the patch out in the command, between `*** Begin Patch` and `*** End Patch`,"
        " each header on its own line",
    )
