"""Where a presence command stands: submodules, subfolders, relative homes, odd and lost folders."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_presence import as_, held
from tests.project import MOOT, Project, git


@pytest.fixture
def project(bare: Project) -> Project:
    bare.init_git("src/a.py")
    bare.init()
    bare.ok("join", "--register", "amber-otter")
    bare.ok("join", "--register", "teal-crane")
    return bare


def test_a_submodule_is_part_of_its_project(project: Project, tmp_path: Path) -> None:
    """The same file has one name, whether it is reserved here or edited under a hook's eyes."""
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "trunk")
    git(library, "commit", "-q", "--allow-empty", "-m", "first")
    allowed = ("-c", "protocol.file.allow=always")
    git(project.root, *allowed, "submodule", "add", "-q", str(library), "lib")
    project.ok(*as_("amber-otter", "reserve", "x.c"), cwd=project.root / "lib")
    assert held(project) == [("lib/x.c", "amber-otter")]
    check = ("guard", "check", "x.c", "--agent", "teal-crane")
    assert project.json(*check, cwd=project.root / "lib").data["allowed"] is False


@pytest.mark.parametrize("home", [".", ".moot"])
def test_a_home_may_be_named_from_here(project: Project, home: str) -> None:
    project.ok("--home", home, *as_("amber-otter", "reserve", "src/*"))
    project.ok(*as_("amber-otter", "reserve", "docs"), MOOT_HOME=home)
    assert [scope for scope, _ in held(project)] == ["docs", "src/*"]
    code = "import os; print(os.environ['MOOT_HOME'])"
    done = project.spawn("--home", home, "run", "--", sys.executable, "-c", code)
    assert done.out == f"{project.root / '.moot'}\n"


def test_a_scope_that_is_not_there_is_held_with_a_warning(project: Project) -> None:
    below = project.root / "src"
    data = project.ok(*as_("amber-otter", "reserve", "new.py", "a.py", "port:3000"), cwd=below)
    assert [row["scope"] for row in data["reserved"]] == ["src/new.py", "src/a.py", "port:3000"]
    (finding,) = data["findings"]
    assert (finding["rule"], finding["code"]) == ("B-11", "no_such_path")
    assert (finding["severity"], finding["where"]) == ("warning", "src/new.py")
    lines = project.run(*as_("amber-otter", "reserve", "other/*"), cwd=below).out
    assert "warning B-11 src/other/*: src/other/* does not exist" in lines


def test_anyone_who_named_it_from_the_root_by_mistake_is_told_how_that_is_typed(
    project: Project,
) -> None:
    below = project.root / "src"
    (finding,) = project.ok(*as_("amber-otter", "reserve", "src/a.py"), cwd=below)["findings"]
    assert finding["where"] == "src/src/a.py"
    assert ":/src/a.py is at the root" in finding["hint"]
    project.ok(*as_("amber-otter", "release", "src/a.py"), cwd=below)
    assert project.ok(*as_("amber-otter", "reserve", ":/src/a.py"), cwd=below)["findings"] == []
    assert held(project) == [("src/a.py", "amber-otter")]


def test_a_session_that_begins_in_a_subfolder_reads_its_scopes_there(project: Project) -> None:
    below = project.root / "src"
    data = project.ok("join", "--register", "coral-finch", "--scope", "a.py", cwd=below)
    assert (data["reserved"], data["findings"]) == (["src/a.py"], [])
    project.ok(*as_("coral-finch", "release", "--all"))
    code = ("run", "--reserve", "*", "--reserve", "new", "--", sys.executable, "-c", "pass")
    done = project.spawn(*code, cwd=below)
    assert done.code == 0
    assert "src/new does not exist" in done.err
    assert "src/*" not in done.err


def test_the_commands_of_the_document_name_scopes_from_the_root(project: Project) -> None:
    """`bb-init` reserves as the document says; a user who wanted the folder is told how."""
    below = project.root / "src"
    data = bb_init(project, "--register", "coral-finch", "--scope", "a.py", cwd=below)["data"]
    assert data["reserved"] == ["a.py"]
    (finding,) = data["findings"]
    assert finding["code"] == "named_from_the_root"
    assert "`moot reserve :/src/a.py`" in finding["hint"]
    (finding,) = bb_init(project, "--register", "slate-wren", "--scope", "*", cwd=below, code=1)[
        "error"
    ]["findings"]
    assert finding["code"] == "reservation_conflict"
    project.ok(*as_("coral-finch", "release", ":/a.py"), cwd=below)
    whole = bb_init(project, "--register", "umber-lark", "--scope", "*", cwd=below)["data"]
    assert [each["code"] for each in whole["findings"]] == ["whole_project"]
    assert held(project) == [("*", "umber-lark")]
    out = bb_init(project, "--register", "jade-stoat", "--scope", "../src/b", cwd=below, code=1)
    assert out["error"]["code"] == "scope_outside"
    assert "`bb-init --scope src/b`" in out["error"]["hint"]


def bb_init(project: Project, *words: str, cwd: Path, code: int = 0) -> Any:
    program = "from moot.surfaces.cli.bb import init_main; init_main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, "--json", *words],
        cwd=cwd,
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code, done
    return json.loads(done.stdout)


@pytest.mark.parametrize("verb", ["reserve", "release"])
def test_a_scope_that_leads_out_of_the_worktree_is_refused(project: Project, verb: str) -> None:
    below = project.root / "src" / "web"
    below.mkdir()
    for far in ("../../../x.py", "/etc/passwd", ":/../x.py", "../../.."):
        done = project.json(*as_("amber-otter", verb, far), cwd=below)
        assert (done.code, done.error["code"]) == (1, "scope_outside"), far
        assert f"outside of {project.root}" in done.error["message"]
    assert held(project) == []
    project.ok(*as_("amber-otter", "reserve", "../api/x.py"), cwd=below)
    assert held(project) == [("src/api/x.py", "amber-otter")]


@pytest.mark.parametrize("words", [("status",), ("--as", "amber-otter", "reserve", "a")])
def test_a_folder_that_is_gone_is_said(project: Project, words: tuple[str, ...]) -> None:
    gone = project.root / "gone"
    gone.mkdir()
    script = f'cd {gone} && rmdir {gone} && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *MOOT, "--json", *words],
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 4
    assert b'"no_folder"' in done.stdout


def test_a_detached_head_is_work_without_a_name(project: Project) -> None:
    git(project.root, "checkout", "-q", "--detach")
    project.ok("join", "--register", "brown-heron")
    said = ("--subject", "s", "--summary", "s", "--next-action", "n")
    words = as_("brown-heron", "handoff", "teal-crane", *said)
    assert project.refused(*words) == ("work_required", 1)
    assert project.ok(*words, "--work", "T-7")["event"]["bead_id"] == "T-7"
    (lease,) = project.ok(*as_("brown-heron", "reserve", "a"))["reserved"]
    assert lease["work"] is None


def test_without_git_the_folder_itself_is_the_project(bare: Project) -> None:
    bare.ok("init")
    below = bare.root / "deep" / "down"
    below.mkdir(parents=True)
    bare.ok("join", "--register", "amber-otter", "--scope", "../x", cwd=below)
    assert held(bare) == [("deep/x", "amber-otter")]
    refused = bare.json("join", "--adopt", "amber-otter", cwd=below)
    assert refused.error["code"] == "adoption_rejected"
    assert "not a git repository" in refused.error["findings"][0]["message"]


def test_a_bare_repository_has_one_workspace_for_its_worktrees(
    project: Project, tmp_path: Path
) -> None:
    store, tree = tmp_path / "store.git", tmp_path / "tree"
    git(tmp_path, "clone", "-q", "--bare", str(project.root), str(store))
    git(store, "worktree", "add", "-q", str(tree), "main")
    project.ok("init", cwd=store)
    project.ok("join", "--register", "amber-otter", "--scope", "src", cwd=tree)
    refused = project.refused("join", "--register", "teal-crane", "--scope", "src/a.py", cwd=store)
    assert refused == ("reservation_conflict", 1)


def test_paths_with_blanks_and_letters_of_the_world_are_kept(project: Project) -> None:
    scopes = ["naïve/日本語 file.txt", "sp ace/x", "a\\b"]
    project.ok(*as_("amber-otter", "reserve", *scopes))
    assert sorted(scope for scope, _ in held(project)) == sorted(scopes)


def test_a_scope_that_is_not_utf8_is_no_scope(project: Project) -> None:
    assert project.refused(*as_("amber-otter", "reserve", "f\udcffx")) == ("bad_scope", 1)


def test_an_unfinished_file_may_have_any_name(project: Project) -> None:
    """Its name is no UTF-8, and the evidence goes on record: the adoption must not break on it."""
    project.ok(*as_("amber-otter", "reserve", "src/*"))
    (project.root / "src" / "f\udcffx").write_text("unfinished")
    data = project.ok("join", "--adopt", "amber-otter")
    assert "src/f\\xffx" in data["event"]["payload"]["evidence"]


def test_a_folder_that_is_not_utf8_is_still_answered_in_json(tmp_path: Path) -> None:
    odd = tmp_path / "b\udcffd"
    odd.mkdir()
    project = Project(odd, tmp_path / "keys")
    project.ok("init")
    assert project.ok("status")["workspace"] == str(odd / ".moot")
    assert project.refused("join", "--register", "amber-otter") == ("bad_root", 1)
    assert project.ok("agent", "list")["agents"] == []


@pytest.mark.requirement("OPR-020")
def test_the_stale_time_of_a_workspace_is_set_when_it_is_made(bare: Project) -> None:
    bare.env["MOOT_CLOCK"] = "2026-02-18T12:00:00Z"
    bare.ok("init", BB_AGENT_STALE_MINUTES="5")
    for name in ("amber-otter", "teal-crane"):
        bare.ok("join", "--register", name)
    bare.ok(*as_("amber-otter", "reserve", "src"))
    soon, late = ({"MOOT_CLOCK": f"2026-02-18T12:{at}Z"} for at in ("04:59.999", "05:00"))
    shown = bare.ok("agent", "show", "amber-otter", **late)
    assert shown["liveness"] == "stale"
    assert "stale after 5 min" in shown["because"]
    words = as_("teal-crane", "reserve", "src", "--takeover-stale")
    assert bare.refused(*words, **soon) == ("reservation_conflict", 1)
    longer = {**late, "BB_AGENT_STALE_MINUTES": "6"}
    assert bare.refused(*words, **longer) == ("reservation_conflict", 1)
    sooner = {**soon, "BB_AGENT_STALE_MINUTES": "1"}
    assert bare.refused(*words, **sooner) == ("reservation_conflict", 1)
    (lost,) = bare.ok(*words, **late)["taken_over"]
    assert lost["status"] == "taken_over"
