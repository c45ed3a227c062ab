"""The files of patches that are sent through the shell, as a heredoc for `apply_patch`.

Names in them are relative to where the shell has gone by then. `cd FOLDER` written out plainly is
followed; any other way of going elsewhere is not guessed at: the command is held back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from moot.surfaces.hooks.call import Unreadable
from moot.surfaces.hooks.patches import BEGIN, files_in_patch

_APPLIES: Final = re.compile(
    r"(?:^|[;&|({`\n])[ \t\r\f\v]*+(?:[^\s;&|({`/]*+/)*+apply_?patch(?![\w.-])"
)
# Words that take a shell elsewhere, wherever they stand.
_GOES_ELSEWHERE: Final = re.compile(
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
# One that does not end goes to the end of the text, and is no quotation.
_QUOTED: Final = re.compile(
    r"'[^']*+(?P<single>')?+|\"(?:[^\"\\]|\\.)*+(?P<double>\")?+", re.DOTALL
)
_HANGS_ON_NOTHING: Final = re.compile(r"\|\||;|\n(?!\Z)")
# Where one of these stands, a `cd` may count for a part of the command only.
_NESTED: Final = re.compile(
    r"[(){}`]|(?<![\w./-])(?:if|then|else|for|while|until|do|case|eval)(?![\w./-])"
)
_MOST_FOLDERS: Final = 8
_MOST_CHANGES: Final = 50


def files_in_shell_patches(command: str, cwd: str) -> tuple[str, ...]:
    """Absolute, as far as `cwd` is; nothing if the command applies no patch."""
    if BEGIN not in command:
        if _APPLIES.search(command) is not None:
            raise _unreadable_patch()
        return ()
    script, _, rest = command.partition(BEGIN)
    names = files_in_patch(rest)
    if not names and _APPLIES.search(command) is not None:
        raise _unreadable_patch()
    here = _follow(script, (cwd,))
    folders = dict.fromkeys(here)
    for between in _scripts_between_patches(rest):
        here = _follow(between, here)
        folders.update(dict.fromkeys(here))
    return tuple(os.path.join(folder, name) for folder in folders for name in names)


def _scripts_between_patches(text: str) -> Iterator[str]:
    """What the shell runs between one patch and the next: `text` begins inside of the first."""
    for part in text.split(BEGIN)[:-1]:
        _patch, *scripts = _ENDED.split(part)
        yield from scripts


def _follow(script: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Where the shell may stand after `script`: usually one folder, more if a `cd` may fail."""
    words = [match.start() for match in _GOES_ELSEWHERE.finditer(script)]
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
        raise _too_often()
    for match in plain:
        folders = _after_cd(match, script, folders)
    return folders


def _unquoted(script: str) -> str:
    return _QUOTED.sub(lambda found: "" if found["single"] or found["double"] else found[0], script)


def _after_cd(match: re.Match[str], script: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    target = match["single"] or match["double"] or os.path.expanduser(match["bare"] or "~")
    reached = [os.path.join(folder, target) for folder in folders]
    # If it fails, or is never run, the rest still runs where the shell stood, unless all of it
    # hangs on success.
    rest = _unquoted(script[match.end() :])
    hangs_on_it = _HANGS_ON_NOTHING.search(rest) is None and rest.lstrip().startswith("&&")
    surely_run = match["before"] != "&&" and all(map(os.path.isdir, reached))
    folders = tuple(dict.fromkeys(reached if hangs_on_it or surely_run else (*reached, *folders)))
    if len(folders) > _MOST_FOLDERS:
        raise _too_often()
    return folders


def _too_often() -> Unreadable:
    return Unreadable(
        "the command changes the folder too often to be followed, then applies a patch",
        code="cd_not_understood",
        hint="apply the patch in a command of its own",
    )


def _unreadable_patch() -> Unreadable:
    return Unreadable(
        "the command applies a patch whose files cannot be read from it",
        code="patch_not_understood",
        hint="write the patch out in the command, between `*** Begin Patch` and `*** End Patch`,"
        " each header on a line of its own",
    )
