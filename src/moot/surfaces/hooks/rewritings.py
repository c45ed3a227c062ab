"""What a tool may make of a path before it opens the file: one function for each `Rewriting`.

Every reading is claimed, the literal one first. Whether a tool rewrites depends on what exists when
it looks, which is after the hook has answered; so nothing is decided here by what exists now,
except which file in the project a name is looked up as.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from moot.surfaces.hooks.call import Unreadable
from moot.surfaces.hooks.patches import JAVASCRIPT_BLANKS

GIT_SECONDS: Final = 3.0
MOST_FOLDERS: Final = 2_000
_SLASHES: Final = "/\\"
_FILE_URL: Final = "file://"


def readings_of(text: str, cwd: str, rewritings: Iterable[str]) -> Iterator[str]:
    """The path as it stands and what each rewriting makes of it and of the others, absolute."""
    texts = {text: None}
    for rewriting in rewritings:
        for known in tuple(texts):
            texts.update(dict.fromkeys(_REWRITE[rewriting](known, cwd)))
    return (os.path.join(cwd, each) for each in texts if each)


def _trim(text: str, _cwd: str) -> Iterator[str]:
    yield text.strip(JAVASCRIPT_BLANKS)
    yield unicodedata.normalize("NFC", text.strip(JAVASCRIPT_BLANKS))


def _expand_home(text: str, _cwd: str) -> Iterator[str]:
    first, _, rest = text.partition("/")
    if first == "~":
        yield os.path.join(os.path.expanduser("~"), rest.lstrip("/"))


def _strip_at_sign(text: str, _cwd: str) -> Iterator[str]:
    if text.startswith("@"):
        yield text[1:].lstrip(_SLASHES)


def _decode(text: str, _cwd: str) -> Iterator[str]:
    if "%" not in text and not text.startswith(_FILE_URL):
        return
    from urllib.parse import unquote

    plain = text.removeprefix(_FILE_URL)
    yield plain
    try:
        yield unquote(plain, errors="strict")
    except UnicodeDecodeError:
        return  # the tool keeps a malformed one as it is


def _look_up(text: str, cwd: str) -> Iterator[str]:
    """The file of the project whose path ends so, if there is one alone, as the tool needs it.

    The tool searches a part of the project only, so that of several it may see one.
    """
    if os.path.isabs(text) or os.path.exists(os.path.join(cwd, text)):
        return
    name, ending = os.path.basename(text), text.replace("\\", "/")
    matches = [file for file in _files_named(name, cwd) if file.endswith(ending)]
    if len(matches) > 1:
        raise _looked_up_anywhere(text, f"the tool may take it for one of {len(matches)} others")
    yield from matches


def _files_named(name: str, folder: str) -> Iterator[str]:
    """As git lists them, which like the tool leaves out ignored ones; without git, one by one."""
    import subprocess  # nearly every path exists, and then nothing is looked up

    command = ["git", "ls-files", "-z", "--cached", "--others"]
    try:
        done = subprocess.run(
            [*command, "--exclude-per-directory=.gitignore"],
            cwd=folder,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        yield from _walk_for(name, folder)
        return
    for path in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        if os.path.basename(path) == name:
            yield os.path.join(folder, path)


def _walk_for(name: str, folder: str) -> Iterator[str]:
    for count, (place, _folders, files) in enumerate(os.walk(folder)):
        if count >= MOST_FOLDERS:
            raise _looked_up_anywhere(name, "the tool may look for it in too many folders")
        if name in files:
            yield os.path.join(place, name)


def _looked_up_anywhere(name: str, why: str) -> Unreadable:
    return Unreadable(
        f"{name} is not there, and {why}",
        code="name_not_understood",
        hint="name the file by its absolute path",
    )


# By the `Rewriting` that the table of tools names.
_REWRITE: Final[Mapping[str, Callable[[str, str], Iterator[str]]]] = {
    "trimmed": _trim,
    "home": _expand_home,
    "at_sign": _strip_at_sign,
    "decoded": _decode,
    "looked_up": _look_up,
}
