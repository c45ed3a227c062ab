"""What differs between a worktree's commit and another: asked of git, which is told no options."""

from __future__ import annotations

import subprocess

from moot.api.guard.git_changes import ADDED, DELETED, find_differences
from tests.project import Project


def commit(project: Project, name: str) -> None:
    (project.root / name).write_text("new\n", encoding="utf-8")
    assert project.git("add", name).code == 0
    assert project.git("commit", "-qm", name).code == 0


def test_each_file_has_the_letter_of_what_would_happen_to_it(project: Project) -> None:
    commit(project, "later.txt")
    assert find_differences(str(project.root), "HEAD~1") == {"later.txt": DELETED}
    assert project.git("reset", "-q", "--hard", "HEAD~1").code == 0
    assert find_differences(str(project.root), "ORIG_HEAD") == {"later.txt": ADDED}
    assert find_differences(str(project.root), "no-such-branch") == {}


def test_what_looks_like_an_option_is_no_commit(project: Project) -> None:
    """Git would write the differences to that file."""
    commit(project, "later.txt")
    made = project.root / "made-by-git"
    asked = ["git", "diff-tree", "-r", f"--output={made}", "HEAD~1", "HEAD"]
    subprocess.run(asked, cwd=project.root, env=project.env, check=True, timeout=60)
    assert made.exists(), "git has such an option"
    made.unlink()
    assert find_differences(str(project.root), f"--output={made}") == {}
    assert not made.exists()
