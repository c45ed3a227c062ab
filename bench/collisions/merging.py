"""Two branches become one. A conflict is resolved with care: nothing of either side is dropped."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from bench.collisions.work import Change

_SECONDS: Final = 60


class Merge(NamedTuple):
    """`thinking` is what it takes to do the change of each conflicting file again."""

    is_done: bool
    conflicts: int = 0
    thinking: float = 0.0


def run_git(root: Path, env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *words],
        cwd=root,
        env=dict(env),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=_SECONDS,
    )


def merge_branch(
    root: Path, env: Mapping[str, str], branch: str, changes: Sequence[Change]
) -> Merge:
    """Merge it into what is checked out at `root`; not done if git or one of its hooks refuses."""
    if run_git(root, env, "merge", "--quiet", "--no-edit", branch).returncode == 0:
        return Merge(True)
    names = run_git(root, env, "diff", "--name-only", "--diff-filter=U").stdout.splitlines()
    thinking = sum(_resolve(root, env, path, changes) for path in names)
    if names and run_git(root, env, "commit", "--quiet", "--no-edit", "-a").returncode == 0:
        return Merge(True, len(names), thinking)
    run_git(root, env, "merge", "--abort")
    return Merge(False)


def _resolve(root: Path, env: Mapping[str, str], path: str, changes: Sequence[Change]) -> float:
    text, theirs = (run_git(root, env, "show", f":{side}:{path}").stdout for side in (2, 3))
    missing = [one for one in changes if one.path == path and one.is_in(theirs)]
    missing = [one for one in missing if not one.is_in(text)]
    for change in missing:
        text = change.apply(text)
    (root / path).write_text(text, encoding="utf-8")
    run_git(root, env, "add", "--", path)
    return max((change.thinking for change in missing), default=0.0)


def would_merge(base: str, mine: Sequence[Change], theirs: Sequence[Change]) -> bool:
    """Whether git brings these changes of one file together by itself."""
    with TemporaryDirectory(prefix="moot-merge-") as folder:
        files = [Path(folder) / name for name in ("mine", "base", "theirs")]
        for file, changes in zip(files, (mine, (), theirs), strict=True):
            text = base
            for change in changes:
                text = change.apply(text)
            file.write_text(text, encoding="utf-8")
        done = run_git(Path(folder), {}, "merge-file", "--stdout", "--quiet", *map(str, files))
        return done.returncode == 0
