"""`moot ask --with claude,codex`: the real tools decide, against a model on the loopback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.verify import standalone
from tests.project import MOOT, Project, Result
from tests.real_tools.scripted_model import Model, Turn
from tests.real_tools.terminal import end_servants_of, run_in_terminal
from tests.real_tools.tools import SECONDS, TOOLS, installed

HANDED_ON = ("--env", "FAKE_KEY")  # the key of the model that codex is pointed at
ASK = (
    *("ask", "Which queue?", "--with", "claude,codex", "--choose", "borda"),
    *HANDED_ON,
)
NAME = re.compile(r"You are (claude|codex)\S*, (?:one of several|a participant)")
COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Council(Model):
    """Speaks for both: the prompt says for whom, and what is asked.

    They answer differently, so the answers are ranked; codex then objects in its first vote and
    gives way in the second session.
    """

    codex_is_readable = True

    def answer(self, turn: Turn) -> str:
        named = NAME.search(turn.asked)
        if named is None:
            return "A queue"  # a title for the session, or whatever else a tool asks beside
        return f"Here it is:\n```json\n{json.dumps(self.reply(named[1], turn.asked))}\n```"

    def reply(self, name: str, asked: str) -> Any:
        is_claude = name == "claude"
        if "Give your own answer" in asked:
            answer = "Postgres" if is_claude else "Kafka"
            return {"answer": answer, "why": f"## Why\n\n{answer} is what *{name}* knows."}
        if "Rank all of them" in asked:
            return {
                "ranking": [
                    {"answer": "Postgres", **vote("approve" if is_claude else "reject", 0.8)},
                    {"answer": "Kafka", **vote("reject", 0.6)},
                ],
                "summary": "One server is enough." if is_claude else "It loses the order.",
                "body": f"## Why\n\nSo says {name}.",
            }
        if not is_claude and not self.codex_is_readable:
            return "I would rather not say."
        return {**vote("approve", 0.8), "summary": f"{name} agrees now.", "body": "It holds."}


def vote(stance: str, confidence: float) -> dict[str, Any]:
    return {"stance": stance, "confidence": confidence}


class AskingProject(Project):
    """A project in which both tools find our model, as a person has them installed."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        super().__init__(
            folder / "project", folder / "keys", HOME=str(self.home), NO_PROXY="127.0.0.1"
        )
        self.root.mkdir()
        self.home.mkdir()
        self.env["PATH"] = f"{installed()}:{self.env['PATH']}"
        self.init()

    def point_at(self, model: Model) -> None:
        for name in ("claude", "codex"):
            TOOLS[name].prepare(self.root, self.home, model.url)
            self.env |= TOOLS[name].env(model.url)
        file = self.home / ".codex" / "config.toml"
        file.write_text(f'model = "gpt-5.5"\n{file.read_text("utf-8")}', encoding="utf-8")

    def ask(self, *words: str) -> Result:
        done = subprocess.run(
            [*MOOT, *words],
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=4 * SECONDS,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def says(self) -> Any:
        self.ok("receipt", "q-1", "-o", "r.json")
        file = self.root / "r.json"
        assert standalone.verify(str(file), str(self.pinned)).verdict == "valid"
        return json.loads(file.read_bytes())["says"]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[AskingProject]:
    made = AskingProject(tmp_path)
    yield made
    end_servants_of(made.home)


def test_both_decide_sealed_and_ranked_in_two_sessions(project: AskingProject) -> None:
    with Council() as model:
        project.point_at(model)
        done = project.ask("--json", *ASK)
    assert done.code == 0, done
    decided = done.data["decision"]
    assert decided["result"]["result"] == "carried", done
    assert decided["result"]["absent"] == []
    says = project.says()
    assert says["motion"]["text"] == "Postgres"
    assert says["seal"]["sealed"] == ["claude", "codex"]
    assert says["seal"]["unopened"] == []
    assert [cast["ranking"] for cast in says["ranking"]["rankings"]] == [[1, 2], [1, 2]]
    rounds = [(vote["round"], vote["agent"], vote["stance"]) for vote in says["argument"]["votes"]]
    assert sorted(rounds) == [
        (1, "claude", "approve"),
        (1, "codex", "reject"),
        (2, "claude", "approve"),
        (2, "codex", "approve"),
    ]
    assert [change["agent"] for change in says["argument"]["changes"]] == ["codex"]
    assert "It loses the order." in model.heard  # the objection is quoted to both
    assert says["participants"][0]["model"].startswith("claude")  # codex tells none
    assert all(seat["cost"]["calls"] == 3 for seat in says["participants"])
    assert decided["endings"]["fitted"] == 2  # both like large headings
    page = project.root / "q-1.html"
    project.ok("report", "q-1", "-o", str(page))
    assert "Postgres is what <em>claude</em> knows." in page.read_text("utf-8")


def test_anyone_who_cannot_be_read_or_crashes_is_absent_and_the_rest_goes_on(
    project: AskingProject,
) -> None:
    crashes = "cmd:false"
    words = ("ask", "Ship it?", "--with", f"claude,codex,{crashes}", "--option", "Postgres")
    council = Council()
    council.codex_is_readable = False
    with council as model:
        project.point_at(model)
        more = (*HANDED_ON, "--option", "Kafka", "--choose", "plurality")
        done = project.ask("--json", *words, *more)
    assert done.code == 0, done
    absent = {each["agent"]: each for each in done.data["absent"]}
    assert set(absent) == {"codex", "false"}, done
    told = json.dumps(done.data["absent"])
    assert "could not be read" in told
    assert "crashed, exit 1" in told
    assert "timed out" not in told.lower()
    result = done.data["decision"]["result"]
    assert result["result"] == "no-quorum", done
    assert result["dissent"] == []
    assert project.says()["result"]["absent"] == result["absent"]


def test_the_live_view_shows_both_at_work(project: AskingProject) -> None:
    with Council() as model:
        project.point_at(model)
        words = [sys.executable, "-P", "-m", "moot", *ASK]
        drawn = run_in_terminal(words, project.root, project.env, lambda: False, 4 * SECONDS)
    seen = COLOURS.sub("", drawn)
    assert "claude" in seen
    assert "codex" in seen
    assert re.search(r"thinking\D{0,10}\d", seen), seen[-3000:]
    assert len(set(re.findall(r"(\d+) s so far", seen))) > 1, seen[-3000:]  # a clock that moves
    assert "codex agrees now." in seen  # what each said last, in one line
    assert "moot decide q-1" in seen
