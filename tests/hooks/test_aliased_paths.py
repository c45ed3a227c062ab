"""One file under several names, and names counted from several roots: never written twice."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest

from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Reserve
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project

# On one disk


def write(path: Path, cwd: Path) -> dict[str, Any]:
    said = call("claude-write", cwd)
    return {**said, "tool_input": {**said["tool_input"], "file_path": str(path)}}


@pytest.mark.requirement("GRD-007")
def test_a_second_name_of_a_held_file_is_held(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    os.link(project.root / "a.txt", project.root / "second.txt")
    said = reason(project.hook("claude", write(project.root / "second.txt", project.root)))
    assert "a.txt is held by teal-crane" in said
    assert project.owners() == {"a.txt": CRANE}


@pytest.mark.parametrize("name", ["src/a.txt", "src/not-yet.txt", "chain/a.txt"])
def test_what_is_held_by_the_name_of_a_link_is_held_where_it_leads(
    project: Project, name: str
) -> None:
    (project.root / "src").mkdir()
    (project.root / "short").symlink_to("src")
    (project.root / "chain").symlink_to("short")
    project.reserve(CRANE, "short")
    assert "short is held by teal-crane" in reason(
        project.hook("claude", write(project.root / name, project.root))
    )
    assert project.owners() == {"short": CRANE}


@pytest.mark.parametrize("place", ["root", "other"])
def test_a_second_name_inside_of_a_held_folder_is_held(project: Project, place: str) -> None:
    """In whichever worktree the holder's folder lies: a name is held in all of them."""
    folder = getattr(project, place) / "src" / "deep"
    folder.mkdir(parents=True)
    (folder / "held.txt").write_text("one\n", encoding="utf-8")
    os.link(folder / "held.txt", project.root / "second.txt")
    worktree = str(getattr(project, place))
    reserve = Reserve(scopes=("src",), project_root=str(project.root), worktree=worktree)
    project.execute(CRANE, reserve, stream=STREAM)
    said = reason(project.hook("claude", write(project.root / "second.txt", project.root)))
    assert "src/deep/held.txt is held by teal-crane as part of src" in said
    assert project.owners() == {"src": CRANE}
    checked = project.run("--json", "--as", OTTER, "guard", "check", "second.txt")
    assert [row["path"] for row in checked.data["held"]] == ["src/deep/held.txt"]


def test_a_held_folder_that_is_too_large_to_search_is_no_way_around(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.api.guard.aliases.MOST_ENTRIES", 3)
    (project.root / "src").mkdir()
    for number in range(5):
        (project.root / "src" / f"{number}.txt").write_text("x\n", encoding="utf-8")
    os.link(project.root / "a.txt", project.root / "second.txt")
    project.reserve(CRANE, "src")
    said = reason(project.hook("claude", write(project.root / "second.txt", project.root)))
    assert "[links_not_searched]" in said
    assert project.hook("claude", write(project.root / "b.txt", project.root)).out == ""
    own = project.hook("claude", write(project.root / "second.txt", project.root), agent=CRANE)
    assert own.out == "", "nobody else holds anything"


def test_ones_own_file_may_be_written_by_each_of_its_names(project: Project) -> None:
    project.reserve(OTTER, "a.txt")
    os.link(project.root / "a.txt", project.root / "second.txt")
    assert project.hook("claude", write(project.root / "second.txt", project.root)).out == ""
    assert project.owners() == {"a.txt": OTTER, "second.txt": OTTER}


def test_other_files_of_the_folder_stay_free(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    (project.root / "b.txt").write_text("other\n", encoding="utf-8")
    assert project.hook("claude", write(project.root / "b.txt", project.root)).out == ""


# Without git, and with the workspace elsewhere


@pytest.fixture
def field(tmp_path: Path) -> Path:
    """A project that no git knows."""
    made = tmp_path / "field" / "ng"
    (made / "src" / "deep").mkdir(parents=True)
    return made


def from_afar(project: Project, path: Path, cwd: Path, agent: str) -> str:
    return project.hook("claude", write(path, cwd), agent, MOOT_HOME=str(project.root)).out


STANDS = ("..", ".", "src", "src/deep")


@pytest.mark.parametrize(("first", "second"), list(itertools.product(STANDS, STANDS)))
@pytest.mark.parametrize("exists", [True, False])
def test_anyone_who_comes_first_from_wherever_holds_the_file(
    project: Project, field: Path, first: str, second: str, exists: bool
) -> None:
    file = field / "src" / "deep" / "a.py"
    if exists:
        file.write_text("one\n", encoding="utf-8")
    assert from_afar(project, file, field / first, CRANE) == ""
    assert "is held by teal-crane" in from_afar(project, file, field / second, OTTER)
    assert set(project.owners().values()) == {CRANE}


def test_a_file_outside_of_where_one_stands_is_known_by_the_root_of_its_holder(
    project: Project, field: Path
) -> None:
    aside = field.parent / "aside"
    aside.mkdir()
    assert from_afar(project, field / "b.py", field, CRANE) == ""
    for cwd in (field / "src", aside):
        assert "b.py is held by teal-crane" in from_afar(project, field / "b.py", cwd, OTTER)


def test_who_goes_down_still_counts_from_the_same_root(project: Project, field: Path) -> None:
    assert from_afar(project, field / "a.py", field, CRANE) == ""
    assert from_afar(project, field / "src" / "a.py", field / "src", CRANE) == ""
    assert project.owners() == {"a.py": CRANE, "src/a.py": CRANE}
    assert from_afar(project, field / "src" / "a.py", field / "src", CRANE) == ""
    for cwd in (field.parent, field, field / "src"):
        assert "is held by teal-crane" in from_afar(project, field / "src" / "a.py", cwd, OTTER)


def test_who_goes_up_does_not_hold_two_files_under_one_name(project: Project, field: Path) -> None:
    assert from_afar(project, field / "src" / "a.py", field / "src", CRANE) == ""
    said = from_afar(project, field / "a.py", field, CRANE)
    assert "other_root" in said
    assert "moot release :/a.py" in said
    assert from_afar(project, field / "b.py", field, CRANE) == ""
    assert project.owners() == {"a.py": CRANE, "b.py": CRANE}
    assert "is held by" in from_afar(project, field / "src" / "a.py", field.parent, OTTER)


def test_a_root_reached_by_a_link_is_the_same_root(
    project: Project, field: Path, tmp_path: Path
) -> None:
    way = tmp_path / "way"
    way.symlink_to(field / "src")
    assert from_afar(project, way / "a.py", way, CRANE) == ""
    for cwd in (field, field / "src", way):
        assert "is held by" in from_afar(project, field / "src" / "a.py", cwd, OTTER)


def test_who_joined_says_from_where_the_others_count(project: Project, field: Path) -> None:
    home = str(project.root)
    project.ok("--as", CRANE, "join", cwd=field, MOOT_HOME=home)
    assert from_afar(project, field / "src" / "a.py", field / "src", OTTER) == ""
    assert project.owners() == {"src/a.py": OTTER}


def test_a_reservation_made_by_hand_counts_from_the_same_root(
    project: Project, field: Path
) -> None:
    home = str(project.root)
    project.ok("--as", CRANE, "reserve", "src/deep/a.py", cwd=field, MOOT_HOME=home)
    for cwd in (field.parent, field, field / "src", field / "src/deep"):
        said = from_afar(project, field / "src/deep/a.py", cwd, OTTER)
        assert "is held by teal-crane" in said


def test_a_wider_root_takes_no_file_from_the_workspace_it_is_in(
    project: Project, field: Path
) -> None:
    """Somebody works from a folder around both; what lies in another workspace is asked there."""
    inner, home = field.parent / "inner", str(project.root)
    inner.mkdir()
    project.ok("init", cwd=inner)
    project.ok("join", "--register", "slate-wren", "--scope", "x.py", cwd=inner)
    project.ok("--as", CRANE, "join", cwd=field.parent, MOOT_HOME=home)
    assert from_afar(project, inner / "x.py", field, OTTER) != ""
    assert project.owners() == {}


def test_of_agents_that_write_at_once_from_several_roots_exactly_one_may(
    project: Project, field: Path
) -> None:
    agents = tuple(f"calm-otter{number}" for number in range(6))
    for agent in agents:
        project.ok("agent", "register", agent)
    file, home = field / "src" / "deep" / "a.py", str(project.root)
    children = [
        project.start_hook("claude", write(file, field / cwd), agent, MOOT_HOME=home)
        for agent, cwd in zip(agents, itertools.cycle(STANDS), strict=False)
    ]
    answers = [child.communicate(timeout=120)[0] for child in children]
    allowed = [agent for agent, out in zip(agents, answers, strict=True) if not out]
    assert len(allowed) == 1
    assert set(project.owners().values()) == {allowed[0]}


# What is nobody's to write


@pytest.mark.requirement("GRD-008")
@pytest.mark.parametrize("name", [".git/config", ".git/hooks/pre-commit", ".moot/ledger.db"])
def test_the_files_of_git_and_of_moot_are_held_back_from_every_agent(
    project: Project, name: str
) -> None:
    for cwd in (project.root, project.other):
        said = reason(project.hook("claude", write(project.root / name, cwd)))
        assert f"refused: [not_for_agents] agents may not write {name}" in said
    assert project.owners() == {}


def test_a_link_to_the_ledger_is_held_back_too(project: Project) -> None:
    (project.root / "notes.txt").symlink_to(".moot/ledger.db")
    assert "agents may not write" in reason(
        project.hook("claude", write(project.root / "notes.txt", project.root))
    )


@pytest.mark.parametrize("name", [".gitignore", ".github/ci.yml", "moot/a.py"])
def test_names_that_only_look_alike_are_files_like_any_other(project: Project, name: str) -> None:
    assert project.hook("claude", write(project.root / name, project.root)).out == ""
    assert project.owners() == {name: OTTER}
