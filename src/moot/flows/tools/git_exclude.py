"""Files of ours that this clone alone has: git does not see them, so nobody commits them.

They stand in a marked block of `.git/info/exclude`, which all worktrees share and no colleague
ever gets. What the block holds follows from what is installed: nothing else remembers it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from moot.flows.tools.original_files import OriginalFiles
from moot.flows.tools.worktrees import all_worktrees
from moot.workspace.find import git_common_dir

BEGIN: Final = "# moot: begin (`moot hook uninstall` removes this)"
END: Final = "# moot: end"


def exclude_file(root: Path) -> Path | None:
    """Git's list of files that only this clone ignores; None outside of git."""
    common = git_common_dir(root)
    return None if common is None else common / "info" / "exclude"


def hide_installed_files(root: Path, originals: OriginalFiles) -> Path | None:
    """Let git ignore exactly the files that are installed here for this clone alone.

    Given back is the list, if it was changed.
    """
    file = exclude_file(root)
    if file is None:
        return None
    lines = sorted(_lines(originals.files_of_this_clone(), root, file.parent.parent))
    now = _read(file)
    if not lines:
        return file if BEGIN in now and originals.restore(file, _without_block) else None
    data = _with_block(now, lines)
    if data == now:
        return None
    originals.write(file, data.encode("utf-8", "surrogateescape"), _without_block)
    return file


def _lines(files: Iterable[Path], root: Path, common: Path) -> set[str]:
    """As git reads them: from the root of a worktree, whichever it is."""
    roots = sorted(all_worktrees(root), key=lambda each: -len(each.parts))
    lines = set()
    for file in files:
        around = next((each for each in roots if file.is_relative_to(each)), None)
        if around is not None and not file.is_relative_to(common):
            lines.add(f"/{file.relative_to(around).as_posix()}")
    return lines


def _with_block(text: str, lines: list[str]) -> str:
    clean = _without(text)
    gap = "" if not clean or clean.endswith("\n") else "\n"
    return "\n".join([clean + gap + BEGIN, *lines, END, ""])


def _without(text: str) -> str:
    before, begin, rest = text.partition(BEGIN)
    _ours, end, after = rest.partition(END)
    return before + after.removeprefix("\n") if begin and end else text


def _without_block(data: bytes) -> bytes | None:
    left = _without(data.decode("utf-8", "surrogateescape"))
    return left.encode("utf-8", "surrogateescape") or None


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""
