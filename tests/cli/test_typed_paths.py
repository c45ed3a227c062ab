"""Paths as they are typed: every command reads them from the folder one stands in, as git does.

What is recorded, and what is answered in JSON, is named from the root. What a hint offers is typed
here from a subfolder, and does what it says.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.api.guard import checks
from moot.api.presence.scopes import reserve
from moot.core.errors import Refused
from tests.cli.test_presence import as_, held
from tests.cli.test_trace import INTEND, MARK, NEW, PROPOSE
from tests.project import Project, git

OTTER, CRANE = "amber-otter", "teal-crane"
TEXTS = ("--subject", "s", "--work", "T-7")
HANDOFF = (*TEXTS, "--summary", "half done", "--next-action", "finish it")
BLOCKED = (*TEXTS, "--blocker", "it is held", "--requested-action", "release it")


@pytest.fixture
def project(bare: Project) -> Project:
    """A repository with `src/web/page.py` and `docs`, and two agents who have joined."""
    bare.init_git("src/web/page.py", "src/a.py", "docs/guide.md")
    bare.init()
    for name in (OTTER, CRANE):
        bare.ok("join", "--register", name)
    return bare


# One meaning from everywhere ----------------------------------------------------------------------

SAME = [  # the folder, and what is typed there for src/web
    ("", "src/web"),
    ("", "./src/web/"),
    ("", ":/src/web"),
    ("src", "web"),
    ("src", ":/src/web"),
    ("src/web", "."),
    ("src/web", "../web"),
    ("docs", "../src/web"),
    ("docs", ":/src/web"),
]


@pytest.mark.parametrize(("below", "text"), SAME)
def test_the_same_scope_is_reached_from_every_folder(
    project: Project, below: str, text: str
) -> None:
    cwd = project.root / below
    data = project.ok(*as_(OTTER, "reserve", text), cwd=cwd)
    assert [row["scope"] for row in data["reserved"]] == ["src/web"]
    assert data["findings"] == []
    checked = project.json("guard", "check", text, "--agent", CRANE, cwd=cwd).data
    assert (checked["paths"], checked["held"][0]["scope"]) == (["src/web"], "src/web")
    sent = project.ok(*as_(OTTER, "handoff", CRANE, *HANDOFF, "--scope", text), cwd=cwd)
    assert sent["event"]["scope"] == "src/web"
    told = project.ok(*as_(OTTER, "blocked", CRANE, *BLOCKED, "--scope", text), cwd=cwd)
    assert told["event"]["scope"] == "src/web"
    compared = project.ok("scope", "compare", text, str(project.root / "src/web"), cwd=cwd)
    assert (compared["class"], compared["a"]) == ("exact", str(project.root / "src/web"))
    assert project.ok(*as_(OTTER, "release", text), cwd=cwd)["released"] == ["src/web"]


@pytest.mark.parametrize(
    ("below", "text", "scope"),
    [
        ("", "*", "*"),
        ("src", "*", "src/*"),
        ("src", ":/*", "*"),
        ("src", "web/*", "src/web/*"),
        ("src/web", "../*", "src/*"),
    ],
)
def test_a_star_is_all_of_this_folder(project: Project, below: str, text: str, scope: str) -> None:
    project.ok(*as_(OTTER, "reserve", text), cwd=project.root / below)
    assert held(project) == [(scope, OTTER)]
    inside, outside = ("src/web/page.py", "docs/guide.md")
    assert project.json("guard", "check", f":/{inside}", "--agent", CRANE).code == 1
    is_whole = scope == "*"
    assert project.json("guard", "check", f":/{outside}", "--agent", CRANE).code == int(is_whole)


def test_events_sessions_and_runs_read_their_scopes_alike(project: Project) -> None:
    below = project.root / "src"
    joined = project.ok(
        "join", "--register", "coral-finch", "--scope", "web", "--scope", ":/docs", cwd=below
    )
    assert joined["reserved"] == ["src/web", "docs"]
    words = ("event", "handoff", "--from", "coral-finch", "--to", CRANE, *HANDOFF)
    assert project.ok(*words, "--scope", "web", cwd=below)["event"]["scope"] == "src/web"
    print_held = "import subprocess, sys; subprocess.run([*sys.argv[1:], 'scope', 'list'])"
    program = (sys.executable, "-c", print_held, sys.executable, "-P", "-m", "moot", "--json")
    done = project.spawn("run", "--reserve", "a.py", "--", *program, cwd=below)
    assert [row["scope"] for row in done.data["reservations"]] == ["docs", "src/a.py", "src/web"]


def test_a_trace_names_what_it_writes_and_where_it_runs_from_here(project: Project) -> None:
    for name in ("coral-finch", "slate-heron"):
        project.ok("agent", "register", name)
    project.ok(*NEW)
    project.ok("trace", "propose", "t1", *PROPOSE)
    project.ok("trace", "review", "t1", "p1", "--verdict", "approved", "--rationale", "fine")
    below = project.root / "src"
    project.ok(*INTEND, "--writes", "web", "--writes", ":/docs", "--cwd", "web", *MARK, cwd=below)
    project.ok(*INTEND, *MARK, cwd=below)
    first, second = project.ok("trace", "status", "t1")["intents"]
    assert (first["writes"], first["cwd"]) == (["src/web", "docs"], "src/web")
    assert (second["writes"], second["cwd"]) == ([], ".")


# What is no path of this project ------------------------------------------------------------------

OUTSIDE = ["../../x", "/etc/passwd", ":/../x", "../.."]


@pytest.mark.parametrize("text", OUTSIDE)
def test_what_lies_outside_is_refused_by_every_command(project: Project, text: str) -> None:
    below = project.root / "src"
    before = project.ledger.read_bytes()
    for words in (
        as_(OTTER, "reserve", text),
        as_(OTTER, "release", text),
        ("guard", "check", text, "--agent", OTTER),
        as_(OTTER, "handoff", CRANE, *HANDOFF, "--scope", text),
        as_(OTTER, "event", "blocked", "--to", CRANE, *BLOCKED, "--scope", text),
        ("join", "--register", "coral-finch", "--scope", text),
        ("run", "--name", "coral-finch", "--reserve", text, "--", "true"),
    ):
        assert project.refused(*words, cwd=below) == ("scope_outside", 1), words
    assert "coral-finch" not in [row["agent"] for row in project.ok("agent", "list")["agents"]]
    assert held(project) == []
    assert project.ledger.stat().st_size == len(before)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "scope_empty"),
        (" ", "scope_empty"),
        (":(glob)src/**", "bad_scope"),
        (":!src", "bad_scope"),
        ("~/x", "bad_scope"),
        ("~nobody/x", "bad_scope"),
        ("a\nb", "bad_scope"),
        ("web/*.py", "unsupported_glob"),
        ("port:", "bad_resource"),
    ],
)
def test_what_is_no_path_at_all_is_refused(project: Project, text: str, code: str) -> None:
    below = project.root / "src"
    for words in (as_(OTTER, "reserve", text), ("guard", "check", text, "--agent", OTTER)):
        assert project.refused(*words, cwd=below) == (code, 1), words
    assert held(project) == []


def test_a_resource_is_the_same_everywhere_and_a_file_of_its_name_is_not(project: Project) -> None:
    below = project.root / "src"
    project.ok(*as_(OTTER, "reserve", "port:3000"), cwd=below)
    assert project.json("guard", "check", "PORT:3000", "--agent", CRANE).code == 1
    project.ok(*as_(CRANE, "reserve", "./port:3000"), cwd=below)
    project.ok(*as_(CRANE, "reserve", ":/port:3000"), cwd=below)
    assert set(held(project)) == {
        ("port:3000", OTTER),
        ("src/port:3000", CRANE),
        ("./port:3000", CRANE),
    }
    project.ok(*as_(CRANE, "release", "../port:3000", "./port:3000"), cwd=below)
    assert held(project) == [("port:3000", OTTER)]


# Where one stands ---------------------------------------------------------------------------------


def test_by_a_link_to_the_project_the_same_files_are_meant(
    project: Project, tmp_path: Path
) -> None:
    around = tmp_path / "around"
    around.symlink_to(project.root)
    data = project.ok(*as_(OTTER, "reserve", "a.py"), cwd=around / "src")
    assert [row["scope"] for row in data["reserved"]] == ["src/a.py"]
    for path in (around / "src" / "web", around / "src" / "not-yet" / "x"):
        data = project.ok(*as_(OTTER, "reserve", str(path)), cwd=around)
        assert [row["scope"] for row in data["reserved"]] == [str(path.relative_to(around))]
    project.ok(*as_(OTTER, "reserve", str(around)))
    assert (".", OTTER) in held(project)


def test_a_link_inside_of_the_project_is_a_name_of_its_own(project: Project) -> None:
    (project.root / "way").symlink_to("src/web")
    data = project.ok(*as_(OTTER, "reserve", "way/page.py"))
    assert [row["scope"] for row in data["reserved"]] == ["way/page.py"]
    assert [finding["code"] for finding in data["findings"]] == ["symlink"]
    data = project.ok(*as_(OTTER, "reserve", "page.py"), cwd=project.root / "way")
    assert [row["scope"] for row in data["reserved"]] == ["src/web/page.py"]


def test_in_another_worktree_its_own_root_counts(project: Project, tmp_path: Path) -> None:
    tree = tmp_path / "second"
    git(project.root, "worktree", "add", "-q", str(tree))
    project.ok(*as_(OTTER, "reserve", "a.py", ":/docs"), cwd=tree / "src")
    assert held(project) == [("docs", OTTER), ("src/a.py", OTTER)]
    assert (
        project.json("guard", "check", "a.py", "--agent", CRANE, cwd=project.root / "src").code == 1
    )
    refused = project.refused(*as_(CRANE, "reserve", str(tree / "x")), cwd=project.root)
    assert refused == ("scope_outside", 1)


def test_a_repository_inside_is_part_of_the_project_or_has_a_workspace(project: Project) -> None:
    inner = project.root / "vendor" / "tool"
    inner.mkdir(parents=True)
    git(inner, "init", "-q", "-b", "main")
    project.ok(*as_(OTTER, "reserve", "x.c"), cwd=inner)
    inside = project.ok(*as_(OTTER, "reserve", ":/y.c"), cwd=inner)["reserved"][0]["scope"]
    scopes = [scope for scope, _ in held(project)]
    assert project.ok("scope", "compare", "x.c", str(inner / "x.c"), cwd=inner)["class"] == "exact"
    project.ok("init", cwd=inner)
    project.ok("join", "--register", "slate-wren", "--scope", "x.c", cwd=inner)
    assert [row["scope"] for row in project.ok("scope", "list", cwd=inner)["reservations"]] == [
        "x.c"
    ]
    assert [scope for scope, _ in held(project)] == scopes == sorted([inside, "vendor/tool/x.c"])


def test_letters_that_look_the_same_are_two_names_and_the_warning_says_so(project: Project) -> None:
    composed, apart = "caf\u00e9.md", "cafe\u0301.md"
    (project.root / "docs" / apart).write_text("a")
    if (project.root / "docs" / composed).exists():
        pytest.skip("this disk takes both for one name")
    below = project.root / "docs"
    (finding,) = project.ok(*as_(OTTER, "reserve", composed), cwd=below)["findings"]
    assert finding["code"] == "no_such_path"
    (typed,) = shlex.split(finding["hint"].partition(" exists")[0])
    data = project.ok(*as_(OTTER, "reserve", typed), cwd=below)
    assert data["findings"] == []
    assert [row["scope"] for row in data["reserved"]] == [f"docs/{apart}"]


# What a hint offers is typed from a subfolder -----------------------------------------------------


def commands_of(hint: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in re.findall(r"`(moot [^`]+)`", hint)]


@pytest.mark.parametrize("scope", ["src/the web", "src/*", ".", "./port:3000", "port:3000"])
def test_what_may_be_taken_over_is_taken_as_the_hint_says(bare: Project, scope: str) -> None:
    bare.env["MOOT_CLOCK"] = "2026-02-18T12:00:00Z"
    bare.ok("init")
    for name in (OTTER, CRANE):
        bare.ok("join", "--register", name)
    below = bare.root / "src" / "deep"
    below.mkdir(parents=True)
    bare.ok(*as_(OTTER, "reserve", scope))
    later = {"MOOT_CLOCK": "2026-02-18T12:20:00Z"}
    refusal = bare.json(*as_(CRANE, "reserve", scope), **later).error
    assert refusal["code"] == "reservation_stale_found"
    (words,) = commands_of(refusal["hint"])
    bare.ok(*as_(CRANE, *words), cwd=below, **later)
    assert held(bare) == [(scope, CRANE)]


def test_what_ends_soon_is_kept_as_the_agenda_says(project: Project) -> None:
    project.ok(*as_(OTTER, "reserve", "src/a.py", "docs/a b", "--ttl", "5"))
    due = project.ok("agenda", "--agent", OTTER)["due"]
    hints = [item["hint"].partition(" (")[0] for item in due]
    for line in hints:
        words = shlex.split(line.replace("MINUTES", "60"))[1:]
        project.ok(*as_(OTTER, *words), cwd=project.root / "docs")
    assert held(project) == [("docs/a b", OTTER), ("src/a.py", OTTER)]


def test_what_a_hook_offers_is_typed_in_the_folder_the_agent_is_in(project: Project) -> None:
    from moot.core.text import OwnText
    from moot.surfaces.hooks.reasons import explain_held

    project.ok(*as_(OTTER, "reserve", "src/web"))
    with moot.open(project.root, keys=project.keys, agent=CRANE) as session:
        from moot.api.guard.edits import before_edit

        verdict = before_edit(session, [str(project.root / "src/web/page.py")])
        reason = explain_held(verdict.holders, CRANE, OwnText("moot"))
    (_ask, check) = commands_of(reason)
    answer = project.json(*check, "--agent", CRANE, cwd=project.root / "docs")
    assert answer.data["paths"] == ["src/web/page.py"]
    assert answer.data["allowed"] is False


# The library names everything from the root -------------------------------------------------------


def open_in(project: Project, below: str) -> Any:
    return moot.open(project.root / below, keys=project.keys, agent=OTTER)


def test_the_library_counts_from_the_root_wherever_its_session_stands(project: Project) -> None:
    with open_in(project, "src") as session:
        reserve(session, ["web", "src/a.py"])
    assert held(project) == [("src/a.py", OTTER), ("web", OTTER)]


def test_the_library_refuses_to_call_a_path_free_that_may_be_meant_from_here(
    project: Project,
) -> None:
    project.ok(*as_(CRANE, "reserve", "src/web"))
    with open_in(project, "src") as session:
        with pytest.raises(Refused) as refusal:
            checks.check(session, ["web/page.py"])
        assert refusal.value.code == "named_from_the_root"
        for path in ("src/web/page.py", str(project.root / "src/web/page.py")):
            assert not checks.check(session, [path]).allowed
        beside, at_root = commands_of(refusal.value.hint)
    assert project.json(*beside, cwd=project.root / "docs").data["paths"] == ["src/web/page.py"]
    assert project.json(*at_root, cwd=project.root / "docs").data["paths"] == ["web/page.py"]


# One line, one refusal ----------------------------------------------------------------------------


def test_a_file_of_several_names_is_one_line(project: Project) -> None:
    (project.root / "way.py").symlink_to("src/a.py")
    os.link(project.root / "docs/guide.md", project.root / "second.md")
    free = project.run("guard", "check", "way.py", "--agent", CRANE)
    assert free.out == "free: way.py\n"
    project.ok(*as_(OTTER, "reserve", "src/a.py", "docs/guide.md"))
    paths = ("way.py", "second.md", "src/web", ":/src")
    done = project.run("guard", "check", *paths, "--agent", CRANE)
    words = [line.partition(" ")[0] for line in done.out.splitlines()]
    assert (words, done.code) == (["held:", "held:", "free:", "held:"], 1)
    assert len(project.json("guard", "check", *paths, "--agent", CRANE).data["paths"]) == 5


@pytest.mark.parametrize("scope", ["src", "src/*"])
def test_one_reservation_in_the_way_is_told_once(project: Project, scope: str) -> None:
    project.ok(*as_(OTTER, "reserve", scope))
    paths = ("src/a.py", "src/web/page.py")
    held_paths = project.json("guard", "check", *paths, "--agent", CRANE).data["held"]
    assert [(each["path"], each["scope"]) for each in held_paths] == [(p, scope) for p in paths]
    lines = project.run("guard", "check", *paths, "--agent", CRANE).out
    assert len(lines.splitlines()) == 2
    assert "more)" not in lines


def test_all_of_a_folder_against_five_holders_is_one_refusal(project: Project) -> None:
    names = ("jade-stoat", "umber-lark", "coral-finch", "slate-wren", OTTER)
    for name in names:
        if name != OTTER:
            project.ok("join", "--register", name)
        project.ok(*as_(name, "reserve", f"src/{name}"))
    done = project.run(*as_(CRANE, "reserve", "*"), cwd=project.root / "src")
    assert (done.code, done.err.count("error [")) == (1, 1)
    assert done.err.count("try:") == 1
    assert all(name in done.err for name in names)
    refusal = project.json(*as_(CRANE, "reserve", "*"), cwd=project.root / "src").error
    assert refusal["code"] == "reservation_conflict"
    assert len(refusal["findings"]) == 5
    assert CRANE not in [owner for _, owner in held(project)]
