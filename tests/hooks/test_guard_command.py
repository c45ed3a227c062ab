"""`moot guard check`: the same question as the hook's, without writing anything."""

from __future__ import annotations

from tests.project import CRANE, OTTER, Project


def test_a_free_path_may_be_written(project: Project) -> None:
    data = project.ok("guard", "check", "a.txt", "--agent", OTTER)
    assert data == {"allowed": True, "agent": OTTER, "paths": ["a.txt"], "held": []}


def test_a_held_path_may_not_and_nothing_is_recorded(project: Project) -> None:
    project.reserve(CRANE, "src/*", work="bb-3")
    before = project.ledger.stat().st_size, project.presence
    done = project.json("guard", "check", "a.txt", "src/x.py", "--agent", OTTER)
    assert done.code == 1
    assert done.data["allowed"] is False
    (held,) = done.data["held"]
    assert (held["path"], held["scope"], held["class"]) == ("src/x.py", "src/*", "partial")
    assert (held["owner"], held["liveness"], held["work"]) == (CRANE, "active", "bb-3")
    assert (project.ledger.stat().st_size, project.presence) == before


def test_the_holder_may(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    assert project.ok("guard", "check", "a.txt", MOOT_AGENT=CRANE)["allowed"]


def test_without_a_name_any_holder_stands_in_the_way(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    assert project.json("guard", "check", "a.txt").code == 1


def test_paths_are_relative_to_the_folder_one_stands_in(project: Project) -> None:
    project.reserve(CRANE, "sub/a.txt")
    inner = project.other / "sub"
    inner.mkdir()
    assert project.json("guard", "check", "a.txt", cwd=inner).code == 1
    assert project.json("guard", "check", ":/sub/a.txt", cwd=inner).code == 1
    assert project.refused("guard", "check", "sub/a.txt", cwd=inner) == ("named_from_the_root", 1)
    assert project.json("guard", "check", "./sub/a.txt", cwd=inner).code == 0
    assert project.json("guard", "check", ":/a.txt", cwd=inner).code == 0
    assert project.json("guard", "check", str(project.other / "a.txt"), cwd=inner).code == 0
    assert project.json("guard", "check", str(inner / "a.txt"), cwd=inner).code == 1


def test_the_whole_worktree_is_a_path_too(project: Project) -> None:
    project.reserve(CRANE, "sub/a.txt")
    assert project.json("guard", "check", ".").code == 1


def test_a_path_outside_and_an_unknown_agent_are_refused(project: Project) -> None:
    assert project.refused("guard", "check", "/etc/passwd") == ("scope_outside", 1)
    assert project.refused("guard", "check", "a.txt", "--agent", "no-one") == ("agent_not_found", 1)
