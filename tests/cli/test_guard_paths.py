"""`moot guard check` from everywhere: whatever a held file is called, it is never called free."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.test_presence import as_
from tests.project import Project, Result, git

HELD = "src/auth"


@pytest.fixture
def project(bare: Project) -> Project:
    """One agent holds `src/auth`, another asks; there is a file in it, and one beside it."""
    bare.init_git(f"{HELD}/cache.py", "src/api/x.py")
    bare.init()
    bare.ok("join", "--register", "amber-otter", "--scope", HELD)
    bare.ok("join", "--register", "teal-crane")
    return bare


def check(project: Project, *paths: str, cwd: str | Path | None = None, **settings: str) -> Result:
    return project.json("guard", "check", *paths, "--agent", "teal-crane", cwd=cwd, **settings)


def is_held(done: Result) -> bool:
    return done.code == 1 and done.envelope["ok"] and done.data["held"] != []


# Where one stands


@pytest.mark.parametrize(
    "path", ["auth/cache.py", "./auth/cache.py", "auth", "auth/not-yet.py", "auth/new/deep.py"]
)
def test_a_path_is_read_from_the_folder_one_stands_in(project: Project, path: str) -> None:
    done = check(project, path, cwd=project.root / "src")
    assert is_held(done)
    assert done.data["paths"] == [os.path.normpath(f"src/{path}")]
    assert is_held(check(project, f":/src/{path}", cwd=project.root / "src"))
    assert check(project, path).data["allowed"] is True


def test_a_path_that_was_named_from_the_root_is_not_called_free(project: Project) -> None:
    """Nothing of it is in the folder we are in, and at the root it is held."""
    for path in ("src/auth/cache.py", "src/auth/not-yet.py"):
        done = check(project, path, cwd=project.root / "src")
        assert (done.code, done.error["code"]) == (1, "named_from_the_root")
        assert "amber-otter" in done.error["message"]
        root, here = re.findall(r"`moot ([^`]*)`", done.error["hint"])
        assert is_held(project.json(*shlex.split(root), cwd=project.root / "src"))
        assert project.json(*shlex.split(here), cwd=project.root / "src").data["allowed"] is True
    assert check(project, "src/api/x.py", cwd=project.root / "src").data["allowed"] is True


def test_a_file_beside_us_is_free_anyone_who_holds_its_namesake_at_the_root(
    project: Project,
) -> None:
    (project.root / "cache.py").write_text("another")
    project.ok(*as_("amber-otter", "reserve", "cache.py"))
    assert check(project, "cache.py", cwd=project.root / "src").data["allowed"] is True
    assert is_held(check(project, ":/cache.py", cwd=project.root / "src"))
    assert is_held(check(project, "../cache.py", cwd=project.root / "src"))


def test_a_path_that_leads_out_and_in_again_is_read(project: Project) -> None:
    assert is_held(check(project, "../src/auth/x.py", cwd=project.root / "src"))
    assert is_held(check(project, "./src/auth/../auth/./cache.py"))
    done = check(project, "../../x.py", cwd=project.root / "src")
    assert (done.code, done.error["code"]) == (1, "scope_outside")


@pytest.mark.parametrize("home", ["..", "../.moot", "../src/../.moot"])
def test_a_home_named_in_another_way_moves_no_root(bare: Project, home: str) -> None:
    """Without git the folder of the workspace is the root, wherever one stands."""
    bare.ok("init")
    (bare.root / HELD).mkdir(parents=True)
    bare.ok("join", "--register", "amber-otter", "--scope", HELD)
    bare.ok("join", "--register", "teal-crane")
    below = bare.root / "src"
    assert is_held(check(bare, ":/src/auth/x.py", cwd=below, MOOT_HOME=home))
    assert is_held(check(bare, str(below / "auth" / "x.py"), cwd=below, MOOT_HOME=home))
    assert is_held(check(bare, "auth/x.py", cwd=below, MOOT_HOME=home))


# Other names of the same file


def test_an_absolute_path_means_itself(project: Project) -> None:
    assert is_held(
        check(project, str(project.root / "src" / "auth" / "new.py"), cwd=project.root / "src")
    )


def test_a_link_to_a_held_file_is_held(project: Project) -> None:
    (project.root / "alias.py").symlink_to("src/auth/cache.py")
    (project.root / "way").symlink_to("src/auth")
    (project.root / "dangling.py").symlink_to("src/auth/not-yet.py")
    for path in ("alias.py", "way/new.py", "dangling.py", "way/../way/x.py"):
        assert is_held(check(project, path)), path


def test_a_held_link_is_held_in_a_project_reached_by_a_link(
    project: Project, tmp_path: Path
) -> None:
    (project.root / "alias.py").symlink_to("src/api/x.py")
    project.ok(*as_("amber-otter", "reserve", "alias.py"))
    around = tmp_path / "around"
    around.symlink_to(project.root)
    assert is_held(check(project, str(around / "alias.py")))
    assert is_held(check(project, str(around / "src" / "auth" / "x.py")))
    assert is_held(check(project, "alias.py", MOOT_HOME=str(around)))


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("home", [True, False])
def test_the_same_file_of_another_worktree_is_held(
    project: Project, tmp_path: Path, nested: bool, home: bool
) -> None:
    """`moot run` names the home to the program that it runs."""
    tree = (project.root if nested else tmp_path) / "trees" / "second"
    git(project.root, "worktree", "add", "-q", str(tree))
    named = {"MOOT_HOME": str(project.root / ".moot")} if home else {}
    assert is_held(check(project, str(tree / "src" / "auth" / "x.py"), **named))
    assert is_held(check(project, os.path.relpath(tree / "src/auth/x.py", project.root), **named))
    assert is_held(check(project, "src/auth/x.py", cwd=tree, **named))
    assert check(project, "auth/cache.py", cwd=tree / "src", **named).code == 1


@pytest.mark.parametrize("home", [True, False])
def test_a_file_of_another_workspace_is_not_ours_to_call_free(
    project: Project, tmp_path: Path, home: bool
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    project.ok("init", cwd=other)
    project.ok("join", "--register", "slate-wren", "--scope", "x.py", cwd=other)
    (project.root / "link.py").symlink_to(other / "x.py")
    named = {"MOOT_HOME": str(project.root / ".moot")} if home else {}
    for path in ("link.py", str(other / "x.py"), "../other/x.py"):
        done = check(project, path, **named)
        assert (done.code, done.error["code"]) == (1, "scope_outside"), path
        assert "another workspace" in done.error["message"]
    (line,) = re.findall(r"`moot (.*)`", done.error["hint"])
    there = project.json(*shlex.split(line), **named)
    assert [one["owner"] for one in there.data["held"]] == ["slate-wren"]


def test_a_workspace_inside_of_ours_has_its_own_files(project: Project) -> None:
    inner = project.root / "vendor" / "tool"
    inner.mkdir(parents=True)
    git(inner, "init", "-q", "-b", "main")
    project.ok("init", cwd=inner)
    (project.root / "link.py").symlink_to("vendor/tool/x.py")
    for path in ("vendor/tool/x.py", str(inner / "x.py"), "link.py"):
        done = check(project, path)
        assert (done.code, done.error["code"]) == (1, "scope_outside"), path
        assert "another workspace" in done.error["message"]
        assert str(inner) in done.error["hint"]


# How a path is written


@pytest.mark.parametrize("path", [r"src\auth\cache.py", r"src\auth", r".\src\auth\new.py"])
def test_a_path_with_the_separators_of_windows_is_not_free(project: Project, path: str) -> None:
    assert is_held(check(project, path))
    assert check(project, r"auth\cache.py", cwd=project.root / "src").code == 1


def test_a_file_may_have_a_backslash_in_its_name(project: Project) -> None:
    (project.root / r"src\auth").write_text("odd, but a name")
    assert check(project, r"src\auth").data == {
        "allowed": True,
        "agent": "teal-crane",
        "paths": [r"src\auth"],
        "held": [],
    }


def test_a_folder_with_all_in_it_is_held_if_a_part_is(project: Project) -> None:
    assert is_held(check(project, "src/*"))
    assert is_held(check(project, "*"))
    assert is_held(check(project, "src/auth/*"))
    assert check(project, "src/api/*").data["allowed"] is True
    assert project.refused("guard", "check", "src/*/cache.py") == ("unsupported_glob", 1)


def test_a_star_in_the_name_of_a_file_is_a_letter(project: Project) -> None:
    (project.root / "src" / "*").write_text("odd, but a name")
    assert check(project, "src/*").data["paths"] == ["src/*"]
    assert check(project, "src/*").data["allowed"] is True


def test_one_doubtful_path_is_enough(project: Project) -> None:
    assert check(project, "src/api/x.py", "auth/cache.py", cwd=project.root / "src").code == 1


def test_it_is_held_anyone_who_comes_first(project: Project) -> None:
    """Held and said so, with who, although another path of the same call is free."""
    done = check(project, "README.md", "src/auth/cache.py")
    assert is_held(done)
    assert done.data["held"][0]["owner"] == "amber-otter"


# One file under several names


def test_a_second_name_of_a_held_file_is_held(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src/api/x.py"))
    os.link(project.root / "src/api/x.py", project.root / "second.py")
    assert is_held(check(project, "second.py"))


@pytest.mark.parametrize("name", ["src/api/x.py", "src/api/not-yet.py", "chain/x.py"])
def test_what_is_held_by_the_name_of_a_link_is_held_where_it_leads(
    project: Project, name: str
) -> None:
    (project.root / "short").symlink_to("src/api")
    (project.root / "chain").symlink_to("short")
    project.ok(*as_("amber-otter", "reserve", "short"))
    assert is_held(check(project, name))
    assert check(project, "src/free.py").data["allowed"] is True


def test_a_held_path_beside_us_that_is_not_made_yet_is_held(project: Project) -> None:
    """At the root there is such a folder, and beside us only a reservation."""
    (project.root / "docs").mkdir()
    project.ok(*as_("amber-otter", "reserve", "src/docs/plan.md"))
    assert is_held(check(project, "docs/plan.md", cwd=project.root / "src"))
    assert check(project, "docs/other.md", cwd=project.root / "src").data["allowed"] is True
    assert check(project, ":/docs/plan.md", cwd=project.root / "src").data["allowed"] is True


# Without git, and with the workspace elsewhere


@pytest.fixture
def field(project: Project, tmp_path: Path) -> Path:
    """A project that no git knows; `src/a.py` in it is held."""
    made = tmp_path / "field"
    (made / "src").mkdir(parents=True)
    (made / "src" / "a.py").write_text("a")
    project.ok(*as_("amber-otter", "reserve", "src/a.py"), cwd=made, MOOT_HOME=str(project.root))
    return made


def test_from_every_folder_the_same_file_is_held(project: Project, field: Path) -> None:
    home = str(project.root)
    for cwd in (field.parent, field, field / "src"):
        assert is_held(check(project, str(field / "src/a.py"), cwd=cwd, MOOT_HOME=home)), cwd
    assert is_held(check(project, "a.py", cwd=field / "src", MOOT_HOME=home))
    assert is_held(check(project, ":/src/a.py", cwd=field / "src", MOOT_HOME=home))
    assert is_held(check(project, "field", cwd=field.parent, MOOT_HOME=home))
    assert check(project, "src/b.py", cwd=field, MOOT_HOME=home).data["allowed"] is True


def test_what_is_held_from_a_folder_below_is_held_from_above(
    project: Project, tmp_path: Path
) -> None:
    home, below = str(project.root), tmp_path / "field" / "deep"
    below.mkdir(parents=True)
    project.ok(*as_("amber-otter", "reserve", "new.py"), cwd=below, MOOT_HOME=home)
    assert is_held(check(project, "deep/new.py", cwd=below.parent, MOOT_HOME=home))
    assert is_held(check(project, "deep", cwd=below.parent, MOOT_HOME=home))
    assert check(project, "deep/old.py", cwd=below.parent, MOOT_HOME=home).data["allowed"] is True


def test_a_wider_root_takes_no_file_from_the_workspace_it_is_in(
    project: Project, field: Path
) -> None:
    """Somebody works from a folder around both."""
    inner, home = field.parent / "inner", str(project.root)
    inner.mkdir()
    project.ok("init", cwd=inner)
    project.ok("join", "--register", "slate-wren", "--scope", "x.py", cwd=inner)
    project.ok(*as_("amber-otter", "reserve", "wide.py"), cwd=field.parent, MOOT_HOME=home)
    done = check(project, str(inner / "x.py"), cwd=field, MOOT_HOME=home)
    assert (done.code, done.error["code"]) == (1, "scope_outside")
    assert "another workspace" in done.error["message"]


def test_a_named_home_is_still_asked_from_afar(project: Project, tmp_path: Path) -> None:
    afar = tmp_path / "afar"
    afar.mkdir()
    path = str(project.root / HELD / "cache.py")
    assert is_held(check(project, path, cwd=afar, MOOT_HOME=str(project.root)))


# What is no path, and what is nobody's to write


@pytest.mark.parametrize("path", ["", " "])
def test_an_unset_variable_is_not_the_root(project: Project, path: str) -> None:
    done = check(project, path)
    assert (done.code, done.error["code"]) == (1, "scope_empty")


@pytest.mark.parametrize("path", ["~", "~/x", "~nobody/x"])
def test_a_home_that_no_shell_spelled_out_is_refused(project: Project, path: str) -> None:
    done = check(project, path)
    assert (done.code, done.error["code"]) == (1, "bad_scope")
    assert done.error["hint"]


def test_a_folder_that_is_really_named_so_is_read(project: Project) -> None:
    (project.root / "~").mkdir()
    assert check(project, "~/x", "~lock.odt").data["allowed"] is True


@pytest.mark.parametrize("path", [".git/config", ".git", ".moot/ledger.db", ".moot", "log"])
def test_the_files_of_git_and_of_moot_are_never_called_free(project: Project, path: str) -> None:
    (project.root / "log").symlink_to(".moot/ledger.db")
    done = check(project, path)
    assert (done.code, done.error["code"]) == (1, "not_for_agents")
    assert check(project, ".gitignore").data["allowed"] is True
