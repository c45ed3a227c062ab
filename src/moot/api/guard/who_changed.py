"""Decide who changed a file, from the change and its possible causes. Pure: no disk, no clock.

    proved       the bytes are exactly what one agent's calls announced
    only known   one command ran, and Moot knows no other agent at work; this is no proof
    unknown      everything else

Only a proved change may be recorded as an agent's act. Bytes that existed before (a removal, a
committed version) are proof only if nothing else could have made them: a script may restore the
same version that another call announced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from moot.core.sha256 import sha256

# More results of one edit, or more simultaneous edits of one file, are not followed.
MOST_RESULTS: Final = 32
MOST_IN_A_ROW: Final = 5
_BOM: Final = "\ufeff"


class TextEdit(msgspec.Struct, frozen=True, array_like=True):
    """Replace `old` by `new`, once or everywhere."""

    old: str
    new: str
    everywhere: bool = False


class Hunk(msgspec.Struct, frozen=True, array_like=True):
    """Replace the lines `old` by `new`, after the line `context` if one is given."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    context: str = ""
    at_end: bool = False


class Announced(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a call's input says one file becomes: the `whole` text, `edits` in sequence, `hunks` of
    a patch, or no file (`removed`)."""

    whole: str | None = None
    edits: tuple[TextEdit, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    removed: bool = False


class CauseKind(StrEnum):
    """How an agent may have made a change.

    EDIT: a call that names this file. COMMAND: a shell command, or the program of a run.
    OTHER_FILES: an edit of other files. UNGUARDED: an agent whose calls no hook reports.
    """

    EDIT = "edit"
    COMMAND = "command"
    OTHER_FILES = "other files"
    UNGUARDED = "unguarded"


class Cause(msgspec.Struct, frozen=True):
    """An agent that was at work when the file may have changed.

    `who` is the agent or its sub-agent (amber-otter/2), empty if its name is unknown. `predicted`
    are git's ids of the content that its call announced, `announced` the edit itself.
    """

    who: str
    kind: CauseKind
    predicted: frozenset[str] = frozenset()
    announced: Announced | None = None

    @property
    def is_announced(self) -> bool:
        return bool(self.predicted) or self.announced is not None


class FileChange(msgspec.Struct, frozen=True):
    """A change of a file: git's ids before and after (empty: no file; None: unknown).

    It happened between `since_ns` and `until_ns`. `is_new`: the file never had these bytes before.
    `data` are the bytes before and `words` the id of the words now (`identify_words`); both are set
    only where needed.
    """

    worktree: str
    path: str
    before: str | None
    after: str | None
    since_ns: int
    until_ns: int
    is_new: bool = True
    data: bytes | None = None
    words: str = ""


class Certainty(StrEnum):
    """How certain a verdict is."""

    PROVED = "proved"
    ONLY_KNOWN = "only known"
    UNKNOWN = "unknown"


class Verdict(msgspec.Struct, frozen=True):
    """`who` is empty if the author is unknown."""

    certainty: Certainty
    who: str = ""


UNKNOWN: Final = Verdict(Certainty.UNKNOWN)


def explain(
    change: FileChange, causes: Sequence[Cause], holder: str, identify: Callable[[bytes], str]
) -> Verdict:
    """Return who changed a file of `holder`. `identify` computes git's id of bytes.

    Any number of the holder's own calls may explain its change; another agent is named without
    proof only if a single command is the single cause.
    """
    announcers = set(_find_announcers(change, causes, identify))
    if len(announcers) == 1 and "" not in announcers:
        (who,) = announcers
        others = (cause for cause in causes if cause.who != who)
        if change.is_new or not any(map(_can_make_any_bytes, others)):
            return Verdict(Certainty.PROVED, who)
    own = [cause for cause in causes if cause.who == holder]
    if change.words and any(change.words in cause.predicted for cause in own):
        return Verdict(Certainty.ONLY_KNOWN, holder)  # a formatter ran after its edit
    if len(own) == len(causes) and any(map(_can_make_any_bytes, own)):
        return Verdict(Certainty.ONLY_KNOWN, holder)
    if len(causes) == 1 and causes[0].kind is CauseKind.COMMAND and causes[0].who:
        return Verdict(Certainty.ONLY_KNOWN, causes[0].who)
    return UNKNOWN


def identify_words(data: bytes) -> str:
    """Return an id of the words of a file, in any order, which a formatter keeps."""
    words = " ".join(sorted(re.findall(r"\w+", data.decode("utf-8", "replace"))))
    return f"words:{sha256(words.encode()).hexdigest()[:40]}"


def predict_content(announced: Announced, before: bytes | None) -> list[bytes | None]:
    """Return the possible contents after the edit (None: no file); empty if they cannot be
    predicted.

    `before` is None if there is no file. Tools keep a file's line endings and byte order mark in
    different ways, so every variant is returned.
    """
    if announced.removed:
        return [None]
    text = _decode_text(b"" if before is None else before)
    if announced.whole is not None:
        return list(dict.fromkeys(_encode_variants(announced.whole, text or "")))
    if text is None:
        return []
    results: Iterable[str] = ()
    if announced.edits:
        results = _apply_edits(announced.edits, text)
    elif announced.hunks:
        results = _apply_hunks(announced.hunks, text)
    return [result.encode("utf-8", "surrogateescape") for result in dict.fromkeys(results)]


def _find_announcers(
    change: FileChange, causes: Sequence[Cause], identify: Callable[[bytes], str]
) -> Iterator[str]:
    announced: dict[str, list[Announced]] = {}
    for cause in causes:
        if change.after in cause.predicted:
            yield cause.who
        if cause.announced is not None:
            announced.setdefault(cause.who, []).append(cause.announced)
    for who, edits in announced.items():
        if change.data is None or len(edits) > MOST_IN_A_ROW:
            continue
        if change.after in _results_in_a_row(edits, change.data, identify):
            yield who


def _results_in_a_row(
    edits: Sequence[Announced], data: bytes, identify: Callable[[bytes], str]
) -> set[str]:
    """Return ids of what one agent's edits, some or all of them in any order, make of the bytes.

    A tool may announce several edits of one file before it makes the first.
    """
    reached: set[str] = set()
    waiting: list[tuple[bytes | None, tuple[int, ...]]] = [(data, tuple(range(len(edits))))]
    while waiting and len(reached) < MOST_RESULTS:
        bytes_now, left = waiting.pop()
        for at in left:
            for result in predict_content(edits[at], bytes_now):
                reached.add("" if result is None else identify(result))
                waiting.append((result, tuple(each for each in left if each != at)))
    return reached


def _can_make_any_bytes(cause: Cause) -> bool:
    """True if the cause could make bytes that it has not announced."""
    if cause.kind is CauseKind.OTHER_FILES:
        return False
    return cause.kind is not CauseKind.EDIT or not cause.is_announced


def _decode_text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _encode_variants(text: str, before: str) -> Iterator[bytes]:
    """Yield the text as it is, and with the line endings and byte order mark of the old file."""
    line_end = "\r\n" if "\r\n" in before else "\n"
    for each in (text, text.replace("\r\n", "\n").replace("\n", line_end)):
        yield each.encode("utf-8", "surrogateescape")
        if before.startswith(_BOM) and not each.startswith(_BOM):
            yield (_BOM + each).encode("utf-8", "surrogateescape")


def _apply_edits(edits: Sequence[TextEdit], text: str) -> Iterator[str]:
    """Apply the edits to the text, and to its LF form: some tools hide CRLF line endings."""
    yield from _apply_in_turn(edits, text)
    if "\r\n" in text:
        plain = [
            TextEdit(
                each.old.replace("\r\n", "\n"), each.new.replace("\r\n", "\n"), each.everywhere
            )
            for each in edits
        ]
        for result in _apply_in_turn(plain, text.replace("\r\n", "\n")):
            yield result.replace("\n", "\r\n")


def _apply_in_turn(edits: Sequence[TextEdit], text: str) -> Iterable[str]:
    results = {text: None}
    for edit in edits:
        fresh = (each for result in results for each in _apply_edit(edit, result))
        results = dict.fromkeys(list(fresh)[:MOST_RESULTS])
    return results


def _apply_edit(edit: TextEdit, text: str) -> Iterator[str]:
    """Yield the results; none if `old` is missing, because the tool then refuses the edit."""
    if not edit.old:
        if not text:
            yield edit.new
        return
    if edit.old not in text:
        return
    if not edit.everywhere:
        yield text.replace(edit.old, edit.new, 1)
    yield text.replace(edit.old, edit.new)
    if not edit.new and not edit.old.endswith("\n"):  # the rest of the line goes with it
        yield text.replace(f"{edit.old}\n", "", -1 if edit.everywhere else 1)


def _apply_hunks(hunks: Sequence[Hunk], text: str) -> Iterator[str]:
    """Apply a patch as Codex and opencode do, if its lines match exactly."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    at, parts = 0, list[tuple[int, int, tuple[str, ...]]]()
    for hunk in hunks:
        if hunk.context:
            if hunk.context not in lines[at:]:
                return
            at = lines.index(hunk.context, at) + 1
        if not hunk.old:
            parts.append((len(lines), 0, hunk.new))
            continue
        found = _find_lines(lines, hunk, at)
        if found is None:
            return
        parts.append((found, len(hunk.old), hunk.new))
        at = found + len(hunk.old)
    for start, count, new in sorted(parts, key=lambda part: part[0], reverse=True):
        lines[start : start + count] = new
    yield "\n".join([*lines, ""])


def _find_lines(lines: Sequence[str], hunk: Hunk, at: int) -> int | None:
    first = max(at, len(lines) - len(hunk.old)) if hunk.at_end else at
    places = range(first, len(lines))
    return next((at for at in places if tuple(lines[at : at + len(hunk.old)]) == hunk.old), None)
