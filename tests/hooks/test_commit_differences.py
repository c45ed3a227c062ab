"""What differs between a worktree's commit and another: asked of git, which is told no options."""

from __future__ import annotations

import subprocess

from moot.flows.guard.commit_differences import ADDED, DELETED, find_differences
from tests.hooks.yard import Yard


def commit(yard: Yard, name: str) -> None:
    (yard.root / name).write_text("new\n", encoding="utf-8")
    assert yard.git("add", name).code == 0
    assert yard.git("commit", "-qm", name).code == 0


def test_each_file_has_the_letter_of_what_would_happen_to_it(yard: Yard) -> None:
    commit(yard, "later.txt")
    assert find_differences(str(yard.root), "HEAD~1") == {"later.txt": DELETED}
    assert yard.git("reset", "-q", "--hard", "HEAD~1").code == 0
    assert find_differences(str(yard.root), "ORIG_HEAD") == {"later.txt": ADDED}
    assert find_differences(str(yard.root), "no-such-branch") == {}


def test_what_looks_like_an_option_is_no_commit(yard: Yard) -> None:
    """Git would write the differences to that file."""
    commit(yard, "later.txt")
    made = yard.root / "made-by-git"
    asked = ["git", "diff-tree", "-r", f"--output={made}", "HEAD~1", "HEAD"]
    subprocess.run(asked, cwd=yard.root, env=yard.env, check=True, timeout=60)
    assert made.exists(), "git has such an option"
    made.unlink()
    assert find_differences(str(yard.root), f"--output={made}") == {}
    assert not made.exists()
