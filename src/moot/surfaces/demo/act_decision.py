"""Act 2: three voices disagree, one changes its mind, the vote passes, and the person vetoes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from moot.surfaces.demo import scripted_voices
from moot.surfaces.demo.stage import DemoCall, DemoStage, Lines, grep, say

# A person's ruling on a decision and the reason. Asked for at a terminal, else None.
AskPerson = Callable[[str], tuple[str, str] | None]
RECORD: Final = "docs/decisions/0001-sessions.md"
_SHOWN: Final = "^(q-|WHO|[a-z]+-[a-z]+  |ranked|motion|changed|carried|dissent)"
_ASKED: Final = DemoCall(
    quiet=True, part=grep(_SHOWN), point="^(q-|ranked|motion|changed|carried|dissent)"
)
PAGE, FIRST_PAGE = "decision.html", "first-version.html"


def play(stage: DemoStage, ask: AskPerson) -> Lines:
    yield stage.title("Act 2", "three voices decide, and a person rules on the result")
    stage.write("notes.md", scripted_voices.NOTES)
    yield say("Scripted voices, so that it runs without a model and a network.")
    yield say("Each seals its answer; when a checkpoint covers all seals, all are opened.")
    yield say("Then each ranks them, without names, and a rule picks the motion.")
    yield from stage.moot(
        *("ask", scripted_voices.QUESTION, "--context", "@notes.md", "--choose", "condorcet"),
        *("--with", _write_voices(stage, scripted_voices.FIRST)),
        how=_ASKED,
    )
    yield from _who_changed(stage, "q-1")
    last = "q-1"
    # At a terminal the user rules; elsewhere the script vetoes.
    ruling, reason = ask("q-1") or ("veto", scripted_voices.VETO)
    if ruling == "veto":
        yield from stage.moot(*_decide("q-1", "veto", reason), how=_under_persons_key(stage))
        yield say("The reason is in the context of the second decision; they argue again.")
        _write_voices(stage, scripted_voices.SECOND)
        yield from stage.moot("ask", "--resume", "q-2", how=_ASKED)
        last, ruling, reason = "q-2", "approve", scripted_voices.APPROVAL
    yield from stage.moot(*_decide(last, ruling, reason), how=_under_persons_key(stage))
    yield from stage.moot("report", "q-1", "-o", f"../{FIRST_PAGE}")
    yield from _write_receipt(stage, last)


def _write_voices(stage: DemoStage, scripts: dict[str, Any]) -> str:
    """Write a script for each voice, and return the value for `--with`."""
    files = {name: f"../voices/{name.partition('-')[2]}.json" for name in scripts}
    for name, script in scripts.items():
        stage.write(files[name], scripted_voices.as_script(script))
    return ",".join(f"{name}=script:{file}" for name, file in files.items())


def _who_changed(stage: DemoStage, decision: str) -> Lines:
    """Show which entries changed whose mind, as the report does."""
    blocks = stage.data("report", decision)["report"]["blocks"]
    (table,) = [block for block in blocks if block.get("title", "").startswith("Who changed")]
    for row in table.get("rows", []):
        who, _round, before, now, heard = (
            cell if isinstance(cell, str) else cell["text"] for cell in row
        )
        yield say(f"{who} went from {before} to {now} after hearing")
        yield from (say(f"  {entry}") for entry in heard.splitlines())


def _under_persons_key(stage: DemoStage) -> DemoCall:
    return DemoCall(settings=stage.person, point="^q-.*(approved|vetoed) by")


def _decide(decision: str, ruling: str, reason: str) -> tuple[str, ...]:
    return ("decide", decision, ruling, "--reason", reason)


def _write_receipt(stage: DemoStage, decision: str) -> Lines:
    yield say("The receipt becomes a decision record in the repository, dissent included.")
    stage.write(RECORD, "")
    short = DemoCall(part=grep("^(dissent|written|proof)"))
    yield from stage.moot("receipt", decision, "-o", RECORD, how=short)
    yield from stage.moot("receipt", decision, "-o", f"../{PAGE}", how=short)
    yield from stage.in_git("add", "docs")
    yield from stage.in_git("commit", "--quiet", "-m", f"Decide {decision}")
