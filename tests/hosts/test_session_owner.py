"""Which machine owns a session, and how it moves to another machine."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import pytest

from moot.api.hosts.session_owners import SessionFilesHere
from moot.hosts import messages as wire
from moot.hosts.session_owner import OWNER
from moot.protocols.debate.commands import Begin
from moot.protocols.debate.reader import read_document
from tests.cli.typeable import commands_in
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.older_keeper import OLDER
from tests.hosts.test_people_on_hosts import answer_to
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of
from tests.project import Project

FINCH = "coral-finch"
RUN = ("--participant", f"{CRANE}=rules:approve", "--participant", f"{FINCH}=rules:approve")


def home_of(kept: KeptLedger, stream: str) -> int:
    with kept.project.workspace() as workspace, workspace.store.read() as view:
        return view.cursor(OWNER, stream)


@pytest.fixture
def debate(laptop: Project, desktop: Project) -> str:
    """A debate that began on the laptop, between agents of the desktop; its stream."""
    desktop.ok("agent", "register", FINCH)
    laptop.ok("debate", "new", "d.md", "--title", "Why?", "--agents", f"{CRANE},{FINCH}")
    with laptop.workspace() as workspace, workspace.store.read() as view:
        (stream,) = (name for name, _ in view.streams() if name.startswith("debate/"))
    return stream


def test_a_debate_of_a_machine_that_has_left_goes_on_where_it_is_moved(
    kept: KeptLedger, laptop: Project, desktop: Project, debate: str
) -> None:
    laptop.ok("machine", "leave")
    before = events_of(kept.project)
    moved = desktop.ok("machine", "move-here", "d.md")
    assert (moved["id"], moved["home"], moved["moved"]) == (debate, "desktop", [debate])
    assert moved["files"] == [str(desktop.root / "d.md")]
    assert (desktop.root / "d.md").read_bytes() == (laptop.root / "d.md").read_bytes()
    assert desktop.ok("debate", "run", "d.md", *RUN)["standing"]["state"] == "ended:consensus"
    assert desktop.ok("debate", "verify", "d.md")["verdict"] == "valid"
    assert before < events_of(kept.project)
    again = desktop.ok("machine", "move-here", "d.md")
    assert (again["moved"], again["files"]) == ([], []), "a repeat changes nothing"


def test_what_another_machine_keeps_is_handed_over_first(
    kept: KeptLedger, laptop: Project, desktop: Project, debate: str
) -> None:
    before = home_of(kept, debate)
    done = desktop.json("machine", "move-here", "d.md")
    assert done.error["code"] == "another_home"
    assert "belongs to laptop, which still shares the ledger" in done.error["message"]
    way = f"moot machine hand-over {debate} --to desktop"
    assert done.error["hint"] == f"there: `{way}`"
    assert (home_of(kept, debate), (desktop.root / "d.md").exists()) == (before, False)
    given = laptop.ok(*way.split()[1:])
    assert (given["home"], given["moved"]) == ("desktop", [debate])
    assert laptop.ok("debate", "status", "d.md")["title"] == "Why?", "it can be read"
    assert laptop.refused("machine", "hand-over", "d.md", "--to", "laptop")[0] == "another_home"
    moved = desktop.ok("machine", "move-here", debate)
    assert (moved["moved"], moved["files"]) == ([], [str(desktop.root / "d.md")])
    assert desktop.ok("debate", "run", "d.md", *RUN)["standing"]["state"] == "ended:consensus"


def test_anyone_who_keeps_the_ledger_moves_anything(
    kept: KeptLedger, laptop: Project, desktop: Project, debate: str
) -> None:
    kept.project.ok("agent", "register", "jade-heron")
    words = ("machine", "move-here", "d.md")
    assert kept.project.refused(*words, MOOT_AGENT="jade-heron")[0] == "human_key_required"
    moved = kept.project.ok(*words)
    assert (moved["home"], moved["moved"]) == (None, [debate])
    assert (kept.project.root / "d.md").read_bytes() == (laptop.root / "d.md").read_bytes()
    refused = desktop.json("machine", "move-here", "d.md")
    assert refused.error["code"] == "another_home"
    assert "belongs to the machine that keeps the ledger" in refused.error["message"]
    assert laptop.refused("machine", "move-here", "d.md")[0] == "another_home"
    way = ("machine", "hand-over", "d.md", "--to")
    assert kept.project.refused(*way, "nobody-here")[0] == "machine_not_found"
    assert kept.project.ok(*way, "desktop")["moved"] == [debate]
    desktop.ok("machine", "move-here", debate)
    assert desktop.ok("debate", "run", "d.md", *RUN)["standing"]["state"] == "ended:consensus"


def test_an_agent_moves_nothing(laptop: Project, desktop: Project, debate: str) -> None:
    laptop.ok("machine", "leave")
    words = ("machine", "move-here", debate)
    assert desktop.refused(*words, MOOT_AGENT=CRANE)[0] == "human_key_required"
    assert laptop.refused(*words)[0] == "machine_left"
    assert desktop.refused("machine", "move-here", "nothing.md")[0] == "not_found"
    assert desktop.refused("machine", "move-here", "presence")[0] == "not_found"


def test_a_file_that_holds_something_else_is_not_overwritten_and_nothing_moves(
    kept: KeptLedger, laptop: Project, desktop: Project, debate: str
) -> None:
    laptop.ok("machine", "leave")
    before = home_of(kept, debate)
    (desktop.root / "d.md").write_text("my own notes\n")
    assert desktop.refused("machine", "move-here", debate)[0] == "session_changed"
    assert (desktop.root / "d.md").read_text() == "my own notes\n"
    assert home_of(kept, debate) == before
    moved = desktop.ok("machine", "move-here", debate, "--into", "other.md")
    assert moved["files"] == [str(desktop.root / "other.md")]
    (desktop.root / "d.md").unlink()
    assert desktop.ok("debate", "run", "other.md", *RUN)["standing"]["state"] == "ended:consensus"


def test_a_parliament_of_a_machine_that_was_taken_off_goes_on_with_its_four_files(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    desktop.ok("agent", "register", FINCH)
    new = laptop.ok(
        *("parliament", "new", "p", "--problem", "Why?", "--issue", "speed", "--issue", "cost"),
        *("--rep", f"Rep. Swift:speed@{CRANE}", "--rep", f"Rep. Thrift:cost@{FINCH}"),
    )
    named = new["parliament_id"]
    assert desktop.refused("machine", "move-here", named)[0] == "another_home"
    kept.project.ok("machine", "revoke", "laptop")
    (desktop.root / "taken").mkdir()
    (desktop.root / "taken" / "ledger.json").write_text("{}")
    words = ("machine", "move-here", named, "--into")
    assert desktop.refused(*words, "taken")[0] == "files_changed"
    moved = desktop.ok(*words, "p")
    assert moved["moved"] == [f"parliament/{named}"]
    assert len(moved["files"]) == 4
    for file in map(Path, moved["files"]):
        assert file.read_bytes() == (laptop.root / "p" / file.name).read_bytes()
    done = desktop.ok("parliament", "run", "p", *RUN)
    assert done["turns"] > 0
    kept_by = desktop.ok("machine", "hand-over", "p", "--to", "desktop")
    assert kept_by["id"] == f"parliament/{named}", "its owner knows it by its folder"


@pytest.mark.parametrize("chamber", ["debate", "parliament"])
def test_a_decision_moves_with_the_session_that_argues_it(
    kept: KeptLedger, laptop: Project, desktop: Project, chamber: str
) -> None:
    voices = ("--with", "rules:approve,rules:approve", "--chamber", chamber)
    decision = laptop.ok("ask", "Ship it?", *voices)["decision"]["id"]
    words = ("receipt", decision, "-o", "receipt.md")
    done = desktop.json(*words)
    assert done.error["code"] == "ledgers_part"
    way = f"moot machine move-here decision/{decision}"
    assert f"`{way}`" in done.error["hint"]
    laptop.ok("machine", "leave")
    moved = desktop.ok(*way.split()[1:])
    first, second, *_ = moved["moved"]
    assert (first, second.partition("/")[0]) == (f"decision/{decision}", chamber)
    assert home_of(kept, second) == home_of(kept, first)
    assert len(moved["files"]) == (1 if chamber == "debate" else 4)
    for file in map(Path, moved["files"]):
        there = laptop.root / file.relative_to(desktop.root)
        assert file.read_bytes() == there.read_bytes()
    desktop.ok(*words)


def test_a_machine_that_comes_back_finds_what_was_moved_elsewhere(
    kept: KeptLedger, laptop: Project, desktop: Project, debate: str
) -> None:
    laptop.ok("machine", "leave")
    desktop.ok("machine", "move-here", debate)
    laptop.ok("init", "--join", kept.invite().text, "--name", "laptop")
    done = laptop.json("machine", "move-here", debate)
    assert "belongs to desktop" in done.error["message"]
    desktop.ok("machine", "hand-over", debate, "--to", "laptop")
    assert laptop.ok("machine", "move-here", debate)["files"] == []


PLACES = (
    "../outside.md",
    "/tmp/absolute.md",
    ".git/hooks/pre-commit",
    ".claude/settings.md",
    ".moot/trust.json",
    "link/x.md",
)
HIDDEN = (".npmrc", "../.envrc", ".git/.gitconfig", "docs/.npmrc")


@pytest.mark.parametrize("place", PLACES + HIDDEN)
def test_a_place_that_another_machine_names_leads_nowhere_else(
    laptop: Project, desktop: Project, tmp_path: Path, place: str
) -> None:
    """It is that machine's word; the file goes where the person stands, or wants it."""
    (desktop.root / "link").symlink_to(tmp_path)
    bare = Project(tmp_path / "bare", tmp_path / "no-keys")
    bare.root.mkdir()
    bare.ok("debate", "new", "d.md", "--title", "Why?", "--agents", f"{OTTER},{CRANE}")
    data = (bare.root / "d.md").read_bytes()
    session = read_document(data).session_id
    stream, digest = f"debate/{session}", hashlib.sha256(data).hexdigest()
    with laptop.workspace() as workspace:
        begin = Begin(file=place, text=data.decode(), digest=digest)
        workspace.engine.execute(stream, begin, OTTER)
    with desktop.workspace() as workspace:
        workspace.joined.sync()  # type: ignore[union-attr]
        found = SessionFilesHere(workspace, stream, None, desktop.root / "here").place
    name = f"{session}.md" if place in HIDDEN else Path(place).name
    assert found == desktop.root / "here" / name


ODD: tuple[tuple[tuple[str, ...], str | None], ...] = (
    ((), None),
    (("nothing",), None),
    (("debate/none",), None),
    (("presence",), None),
    (("registry",), None),
    (("../x",), None),
    (("debate/\0",), "desktop"),
    (("debate/x",) * 51, None),
)


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_session_does_not_move(
    kept: KeptLedger, laptop: Project, odd: tuple[tuple[str, ...], str | None]
) -> None:
    before = events_of(kept.project)
    answer = answer_to(kept, laptop, wire.MoveSession(*odd))
    assert isinstance(answer, wire.Failed), answer
    assert answer.code in ("bad_request", "not_found", "machine_not_found")
    assert events_of(kept.project) == before


def test_what_comes_along_was_at_home_on_the_same_machine(
    kept: KeptLedger, laptop: Project, desktop: Project, debate: str
) -> None:
    """Streams that do not belong to the session do not move with it."""
    other = desktop.ok("ask", "Ship it?", "--with", "rules:approve,rules:approve")["decision"]["id"]
    theirs = home_of(kept, f"decision/{other}")
    streams = (debate, f"decision/{other}", "presence", "debate/none")
    answer = answer_to(kept, laptop, wire.MoveSession(streams, "desktop"))
    assert answer == wire.SessionMoved((debate,))
    assert home_of(kept, f"decision/{other}") == theirs
    answer = answer_to(kept, laptop, wire.MoveSession((debate,), "laptop"))
    assert isinstance(answer, wire.Failed)
    assert answer.code == "another_home"


def test_an_older_keeper_moves_nothing(
    laptop: Project, desktop: Project, debate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop.ok("machine", "leave")
    monkeypatch.setattr(wire, "_question_decoder", lambda: OLDER)
    assert desktop.refused("machine", "move-here", debate)[0] == "another_version"
    assert not (desktop.root / "d.md").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("add", "d.md", "--author", CRANE),
        *((name, "d.md") for name in ("check", "status", "verify", "report", "consensus")),
        ("summary", "d.md"),
    ],
)
def test_a_debate_whose_file_is_elsewhere_says_how_to_get_it(
    laptop: Project, desktop: Project, debate: str, words: tuple[str, ...]
) -> None:
    """The agenda tells its agents on the desktop to speak in a file that only the laptop has."""
    done = desktop.json("debate", *words)
    assert (done.error["code"], done.code) == ("unreadable_file", 4)
    laptop.ok("machine", "hand-over", "d.md", "--to", "desktop")
    (line,) = commands_in(done.error["hint"])
    assert desktop.ok(*shlex.split(line)[1:])["id"] == debate
    assert desktop.ok("debate", "status", "d.md")["may_speak"]
    assert "on record" not in desktop.json("debate", "status", "nothing.md").error["hint"]
