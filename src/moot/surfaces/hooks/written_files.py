"""Find the files that a call is about to write, as absolute paths, and their new content.

Relative paths are relative to the `cwd` that the tool sent, not to this process. If a tool may read
a path in two ways, both files count. `whole_file` lists the calls that overwrite a file without
checking that it is unchanged since the model read it. In a patch only added files are overwritten
whole: an update fails if the lines it expects are missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from moot.surfaces.hooks.call import HookCall, Unreadable

if TYPE_CHECKING:
    from moot.api.guard.edits import Announced, Hunk, TextEdit


# Shell tools may name their folder in one of these fields.
_FOLDERS: Final = ("workdir", "dir_path", "directory")
# Prefixes of a path that some tool rewrites.
_PREFIXES: Final = ("~", "@", "file:")
_OLD: Final = ("old_string", "oldString")
_NEW: Final = ("new_string", "newString")
_EVERYWHERE: Final = ("replace_all", "replaceAll", "allow_multiple")
_HEADERS: Final = ("*** Add File:", "*** Update File:", "*** Delete File:")
_MOVE: Final = "*** Move to:"
_END: Final = "*** End of File"


def find_written_files(call: HookCall) -> tuple[str, ...]:
    """Return the files that the call writes. Raises Unreadable for an edit whose file is
    unknown."""
    tool, name = call.tool, call.name
    if name in tool.edits:
        return _all_readings(call, (_text(call, tool.edits[name]),))
    if name in tool.patches:
        return _all_readings(call, _files_in_patch(call))
    return _files_in_shell(call) if name in tool.shells else ()


def find_read_files(call: HookCall) -> tuple[str, ...]:
    """Return the files that a reading call has shown; none if the call does not name one."""
    text = call.input.get(call.tool.reads[call.name])
    if not isinstance(text, str) or not text or "\0" in text:
        return ()
    return tuple(filter(os.path.isfile, _all_readings(call, (text,))))


def _all_readings(call: HookCall, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return every file that the tool may open for these paths, in the order of the paths."""
    rewritings = call.tool.rewritings_for(call.name)
    looks_up = "looked_up" in rewritings
    if not any(_may_be_rewritten(text, looks_up) for text in texts):
        return tuple(os.path.join(call.cwd, text) for text in texts)

    readings = (list_readings(text, call.cwd, rewritings) for text in texts)
    return tuple(dict.fromkeys(file for files in readings for file in files))


def _may_be_rewritten(text: str, looks_up: bool) -> bool:
    """True if some tool may open another file for this path; nearly every path is plain."""
    is_plain = text.isascii() and "%" not in text and text == text.strip()
    return not is_plain or text.startswith(_PREFIXES) or (looks_up and not os.path.isabs(text))


def _files_in_patch(call: HookCall) -> tuple[str, ...]:
    from moot.surfaces.hooks.patches import files_in_patch

    files = files_in_patch(_text(call, call.tool.patches[call.name]))
    if not files:
        raise Unreadable(f"the {call.name} call names no file that can be read", call.moment)
    return files


def _files_in_shell(call: HookCall) -> tuple[str, ...]:
    command = _text(call, call.tool.shells[call.name])
    if "patch" not in command.lower():
        return ()  # nearly every command: nothing is loaded for it
    from moot.surfaces.hooks.patches import files_in_shell_patches

    return files_in_shell_patches(command, shell_folder(call))


def shell_folder(call: HookCall) -> str:
    """Return the folder in which a shell command runs."""
    for field in _FOLDERS:
        if isinstance(call.input.get(field), str):
            return os.path.join(call.cwd, call.input[field])
    return call.cwd


def shell_text(call: HookCall) -> str | None:
    """Return the command of a shell call; None if it is another kind of call."""
    field = call.tool.shells.get(call.name)
    if field is None:
        return None
    text, words = _text(call, field), call.input[field]
    if isinstance(words, list):  # a program and its arguments
        from shlex import join

        return join(words)
    return text


def _text(call: HookCall, field: str) -> str:
    text = call.input.get(field)
    if isinstance(text, list) and all(isinstance(word, str) for word in text):
        text = "\n".join(text)
    if not isinstance(text, str) or not text or "\0" in text:
        raise Unreadable(f"the {call.name} call has no readable {field}", call.moment)
    return text


def find_overwritten(call: HookCall, paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of `paths` that the call overwrites whole, without checking their content."""
    tool, name = call.tool, call.name
    if name not in tool.whole_file:
        return ()
    if name in tool.edits:
        return tuple(paths)
    text = call.input.get(tool.patches.get(name) or tool.shells.get(name, ""))
    added = _added_files(text) if isinstance(text, str) else ()
    return tuple(path for path in paths if path.endswith(added)) if added else ()


def _added_files(patch: str) -> tuple[str, ...]:
    """Return `/NAME` for each file that a patch adds, to compare with the ends of paths."""
    names = (line.partition(":")[2].strip() for line in _lines_with(patch, _HEADERS[0]))
    return tuple(_as_end(name) for name in names if name)


def read_announced(call: HookCall, paths: Iterable[str]) -> Mapping[str, Announced]:
    """Return the new content of each of `paths`, if the input gives it in a known form."""
    tool, name = call.tool, call.name
    if name in tool.edits:
        says = _read_announced_edit(call.input)
        return {} if says is None else dict.fromkeys(paths, says)
    text = call.input.get(tool.patches.get(name) or tool.shells.get(name, ""))
    if isinstance(text, list):
        text = "\n".join(map(str, text))
    if not isinstance(text, str):
        return {}
    sections = dict(_read_patch(text))
    found = (
        (path, [says for end, says in sections.items() if path.endswith(end)]) for path in paths
    )
    return {path: matching[0] for path, matching in found if len(matching) == 1}


def _read_announced_edit(sent: Mapping[str, Any]) -> Announced | None:
    from moot.api.guard.edits import Announced

    content = sent.get("content")
    if isinstance(content, str):
        return Announced(whole=content)
    listed = sent.get("edits")
    edits = [_read_edit(each) for each in (listed if isinstance(listed, list) else [sent])]
    known = tuple(edit for edit in edits if edit is not None)
    return Announced(edits=known) if known and len(known) == len(edits) else None


def _read_edit(sent: Any) -> TextEdit | None:
    from moot.api.guard.edits import TextEdit

    if not isinstance(sent, dict):
        return None
    old, new = (next((sent[n] for n in names if n in sent), None) for names in (_OLD, _NEW))
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    return TextEdit(old, new, any(sent.get(name) is True for name in _EVERYWHERE))


def _read_patch(text: str) -> Iterator[tuple[str, Announced]]:
    """Yield `/NAME` and the new content of each file in a patch; a moved file counts as removed."""
    from moot.api.guard.edits import Announced

    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith(_HEADERS)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        header, _, name = lines[start].partition(":")
        body = lines[start + 1 : end]
        until = next((at for at, line in enumerate(body) if line.startswith("*** End Patch")), None)
        body = body[:until]
        target = _as_end(name.strip())
        if header == "*** Add File":
            added = [line[1:] for line in body if line.startswith("+")]
            yield target, Announced(whole="\n".join([*added, ""]))
        elif header == "*** Delete File" or any(line.startswith(_MOVE) for line in body):
            yield target, Announced(removed=True)
        else:
            yield target, Announced(hunks=tuple(_read_hunks(body)))


def _read_hunks(lines: Iterable[str]) -> Iterator[Hunk]:
    from moot.api.guard.edits import Hunk

    context, old, new, at_end = "", list[str](), list[str](), False
    for line in (*lines, "@@"):
        if line.startswith("@@"):
            if old or new:
                yield Hunk(tuple(old), tuple(new), context, at_end)
            context, old, new, at_end = line[2:].strip(), [], [], False
        elif line == _END:
            at_end = True
        elif line[:1] in ("+", "-", " ", ""):
            old += [line[1:]] if line[:1] != "+" else []
            new += [line[1:]] if line[:1] != "-" else []


def _lines_with(text: str, header: str) -> Iterator[str]:
    return (line for line in text.split("\n") if line.strip().startswith(header))


def _as_end(name: str) -> str:
    return f"/{os.path.normpath(name).lstrip('/')}"


# How a tool may rewrite a path before it opens the file: one function for each `Rewriting`. Every
# reading is claimed, because other files may exist when the tool looks.

GIT_SECONDS: Final = 3.0
MOST_FOLDERS: Final = 2_000
_SLASHES: Final = "/\\"
_FILE_URL: Final = "file://"


def list_readings(text: str, cwd: str, rewritings: Iterable[str]) -> Iterator[str]:
    """Yield the path itself and every combination of rewritings of it, absolute."""
    texts = {text: None}
    for rewriting in rewritings:
        for known in tuple(texts):
            texts.update(dict.fromkeys(_REWRITE[rewriting](known, cwd)))
    return (os.path.join(cwd, each) for each in texts if each)


def _trim(text: str, _cwd: str) -> Iterator[str]:
    from unicodedata import normalize

    from moot.surfaces.hooks.patches import JAVASCRIPT_BLANKS

    trimmed = text.strip(JAVASCRIPT_BLANKS)
    yield trimmed
    yield normalize("NFC", trimmed)


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
    """Yield the project's file whose path ends like this, if there is exactly one.

    The tool searches only a part of the project, so it may see only one of several matches; those
    are refused.
    """
    if os.path.isabs(text) or os.path.exists(os.path.join(cwd, text)):
        return
    name, ending = os.path.basename(text), text.replace("\\", "/")
    matches = [file for file in _files_named(name, cwd) if file.endswith(ending)]
    if len(matches) > 1:
        raise _looked_up_anywhere(text, f"the tool may take it for one of {len(matches)} others")
    yield from matches


def _files_named(name: str, folder: str) -> Iterator[str]:
    """Yield the files that git lists, without ignored ones as the tool does; without git, walk."""
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
