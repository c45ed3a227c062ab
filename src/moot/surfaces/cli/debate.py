"""`moot debate ...`: a debate in one markdown file; no workspace is needed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from moot.debate.model import DECIMAL, Escalation, Mode, OutputFormat, Rules, Stance, TurnOrder
from moot.surfaces.cli import debate_lines as lines
from moot.surfaces.cli.answer import REFUSED, Answer
from moot.surfaces.cli.debate_file import (
    append,
    checked_file,
    create_file,
    locked,
    read_file,
    session_clock,
)
from moot.surfaces.cli.here import findings_json
from moot.surfaces.cli.page import page_option, write_file, write_page
from moot.surfaces.cli.shell import Shell, command, text_argument


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def debate() -> None:
    """Argue in turns in one markdown file, and see whether all agree."""


def _file(name: str = "file") -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    return click.argument(name, type=click.Path(path_type=Path), metavar=name.upper())


def _number(text: str) -> Decimal:
    """A decimal from 0 to 1, exactly as typed."""
    if not DECIMAL.fullmatch(text) or Decimal(text) > 1:
        raise click.BadParameter(f"{text!r} is not a number from 0.0 to 1.0")
    return Decimal(text)


def _choice(kind: Any) -> click.Choice[str]:
    return click.Choice([value.value for value in kind])


# Reading -----------------------------------------------------------------------------------------


@command(debate, "check", "debate.check")
@_file()
@click.option("--strict-uuid", is_flag=True, help="Ids must be UUIDs of version 4.")
def check(shell: Shell, file: Path, strict_uuid: bool) -> Answer:
    """Check a session file against every rule of the protocol, to the line.

    Exit 1 if it has errors; warnings and notes are shown and leave it valid.

    Examples:
      moot debate check api-design.md
      moot debate check api-design.md --strict-uuid --json
    """
    from moot.debate.views import check_data

    del shell
    checked = checked_file(file, strict_uuid)
    data = check_data(checked)
    return Answer(data, lambda: lines.check(file, checked), 0 if checked.valid else REFUSED)


@command(debate, "status", "debate.status")
@_file()
def status(shell: Shell, file: Path) -> Answer:
    """Show where a session stands: whose turn, until when, which positions, how it ended.

    Examples:
      moot debate status api-design.md
    """
    from moot.debate.views import status_data

    data = status_data(checked_file(file), session_clock(shell)())
    return Answer(data, lambda: lines.status(data))


@command(debate, "consensus", "debate.consensus")
@_file()
@click.option("--round", "number", type=click.IntRange(min=1), help="Another round.")
@click.option("--mode", type=_choice(Mode), help="As if the session had this mode.")
@click.option("--threshold", type=_number, help="As if the session had this threshold.")
def consensus(
    shell: Shell, file: Path, number: int | None, mode: str | None, threshold: Decimal | None
) -> Answer:
    """Say whether a round agrees, and how surely; recompute it under any other rule.

    Examples:
      moot debate consensus api-design.md
      moot debate consensus api-design.md --round 1 --mode weighted --threshold 0.6
    """
    from moot.debate.views import consensus_data

    del shell
    data = consensus_data(checked_file(file), number, Mode(mode) if mode else None, threshold)
    return Answer(data, lambda: lines.consensus(data))


@command(debate, "compare", "debate.compare")
@_file("old")
@_file("new")
def compare(shell: Shell, old: Path, new: Path) -> Answer:
    """Check that NEW is OLD with something appended: nothing changed, removed or inserted.

    Examples:
      moot debate compare yesterday.md api-design.md
    """
    from moot.debate.compare import compare as compare_versions

    del shell
    found = compare_versions(read_file(old), read_file(new))
    data = {"append_only": not found, "valid": not found, "findings": findings_json(found)}
    return Answer(data, lambda: lines.compared(old, new, found), REFUSED if found else 0)


@command(debate, "summary", "debate.summary")
@_file()
def summary(shell: Shell, file: Path) -> Answer:
    """Print a session in short, as markdown: the verdict, the positions, who said what.

    Examples:
      moot debate summary api-design.md
    """
    from moot.debate.summary import summary as summarise

    text = summarise(checked_file(file), session_clock(shell)())
    return Answer({"markdown": text}, text.splitlines)


@command(debate, "report", "debate.report")
@_file()
@page_option
def report(shell: Shell, file: Path, output: Path | None) -> Answer:
    """Tell how a debate went: who stood where, who changed after what, who disagrees in full.

    Also what would have come out under other rules. Without -o it is printed as markdown.

    Examples:
      moot debate report api-design.md
      moot debate report api-design.md -o api-design.html
    """
    import hashlib
    import json

    from moot.core.report import to_json, to_markdown
    from moot.debate.report import report as make_report

    proof = hashlib.sha256(read_file(file)).hexdigest()
    made = make_report(checked_file(file), file.name, proof, session_clock(shell)())
    if output is not None:
        write_page(output, made)
    data = {"file": str(output) if output else None, "report": json.loads(to_json(made))}
    if output is not None:
        return Answer(data, lambda: [f"{output}: {made.verdict.label}"])
    return Answer(data, lambda: to_markdown(made).splitlines())


# Writing -----------------------------------------------------------------------------------------


@command(debate, "new", "debate.new")
@_file()
@click.option("--title", required=True, metavar="T", help="What it is about, in one line.")
@click.option("--agents", required=True, metavar="A,B", help="Who takes part, in this order.")
@click.option("--context", metavar="T", help="What is known and asked (- or @file; the title).")
@click.option("--turn-order", type=_choice(TurnOrder), default="round-robin", show_default=True)
@click.option("--max-turns-per-round", type=int, default=1, show_default=True, help="1 to 10.")
@click.option("--turn-timeout", type=int, default=300, show_default=True, help="Seconds.")
@click.option("--consensus-threshold", type=_number, default="0.7", show_default=True)
@click.option("--consensus-mode", type=_choice(Mode), default="majority", show_default=True)
@click.option("--escalation", type=_choice(Escalation), default="human", show_default=True)
@click.option("--max-rounds", type=int, default=5, show_default=True, help="1 to 100.")
@click.option(
    "--output-format", type=_choice(OutputFormat), default="structured", show_default=True
)
def new(
    shell: Shell, file: Path, title: str, agents: str, context: str | None, **rules: Any
) -> Answer:
    """Begin a session: a markdown file that anyone can read, and each agent appends to.

    Examples:
      moot debate new api-design.md --title "Which API?" --agents amber-otter,teal-crane
      moot debate new plan.md --title "Ship?" --agents lead,dev --context @plan.txt
    """
    from moot.debate.writer import new_session

    asked = text_argument(context) if context is not None else title
    session_id = str(uuid.uuid4())
    text = new_session(title, asked, _rules(agents, rules), session_id, session_clock(shell)())
    made = create_file(file, text)
    names = [agent.strip() for agent in agents.split(",")]
    data = {"file": str(made), "session_id": session_id, "title": title, "agents": names}
    return Answer(data, lambda: lines.made(data))


def _rules(agents: str, given: dict[str, Any]) -> Rules:
    """What was asked for, unjudged: the written file is checked as any other."""
    kinds = {
        "turn_order": TurnOrder,
        "consensus_mode": Mode,
        "escalation": Escalation,
        "output_format": OutputFormat,
    }
    typed: dict[str, Any] = {
        key: kinds[key](value) if key in kinds else value for key, value in given.items()
    }
    return Rules(tuple(agent.strip() for agent in agents.split(",")), **typed)


@command(debate, "add", "debate.add")
@_file()
@click.option("--author", metavar="A", help="Who speaks (default: --as or MOOT_AGENT).")
@click.option("--stance", metavar="S", default="", help=f"{', '.join(Stance)}.")
@click.option("--confidence", metavar="C", default="", help="0.0 to 1.0.")
@click.option("--summary", metavar="T", default="", help="The point, in one or two lines.")
@click.option("--action-requested", metavar="T", default="n/a", help="What should happen next.")
@click.option("--next", "next_agent", metavar="AGENT", help="Who should speak next.")
@click.option("--evidence", metavar="T", default="n/a", help="Files and addresses, with commas.")
@click.option("--body", metavar="T", default="", help="The argument, in markdown (- or @file).")
@click.option("--escape", is_flag=True, help="Write comments in the body as visible text.")
@click.option("--after-end", is_flag=True, help="Speak although the session has ended.")
def add(
    shell: Shell, file: Path, author: str | None, escape: bool, after_end: bool, **given: Any
) -> Answer:
    """Append one entry: its id, turn, round and time are filled in.

    Refused if it is someone else's turn, an entry is open, the session has ended, or the text
    would change the file's structure. Nothing that was written before is touched.

    Examples:
      moot debate add api-design.md --author amber-otter --stance approve --confidence 0.8
          --summary "REST will do." --body @argument.md
    """
    from moot.debate.drafts import Draft
    from moot.debate.writer import appended

    draft = Draft(author=shell.actor(author), **_said(given))
    with locked(file):
        checked = checked_file(file)
        addition = appended(
            checked,
            draft,
            str(uuid.uuid4()),
            session_clock(shell)(),
            escape=escape,
            after_end=after_end,
        )
        append(file, addition.text)
    return _added(file, shell, addition.id)


def _said(given: dict[str, Any]) -> dict[str, Any]:
    """A-17: --next puts the name first, where it is found first."""
    name = given.pop("next_agent")
    asked = given["action_requested"]
    if name is not None:
        given["action_requested"] = name if asked == "n/a" else f"{name}: {asked}"
    return {
        **given,
        "body": text_argument(given["body"]),
        "summary": text_argument(given["summary"]),
    }


def _added(file: Path, shell: Shell, entry_id: str) -> Answer:
    from moot.debate.views import status_data

    after = checked_file(file)
    state = status_data(after, session_clock(shell)())
    entry = next(one for one in after.document.entries if one.id == entry_id)
    data = {
        "entry": entry_id,
        "author": entry.author,
        "round": entry.round,
        "turn": entry.turn,
        "state": state["state"],
        "next": state["next"],
        "findings": findings_json(one for one in after.findings if one.where == entry_id),
    }
    return Answer(data, lambda: lines.added(data))


@command(debate, "add-context", "debate.add_context")
@_file()
@click.option("--title", required=True, metavar="T", help="The heading of the subsection.")
@click.argument("text")
def add_context(shell: Shell, file: Path, title: str, text: str) -> Answer:
    """Add a subsection to the context (- or @file for the text). This is the operator's act.

    What stood in the file before is kept to the letter.

    Examples:
      moot debate add-context api-design.md --title "Added in round 2" "The budget was cut."
    """
    from moot.debate.context import with_context

    del shell
    with locked(file):
        checked = checked_file(file)
        write_file(file, with_context(checked, title, text_argument(text)).encode())
    data = {"file": str(file), "title": title}
    return Answer(data, lambda: [f"{file}: the context has a new part, {title}"])


# When time is up ---------------------------------------------------------------------------------


@command(debate, "tick", "debate.tick")
@_file()
def tick(shell: Shell, file: Path) -> Answer:
    """Let a turn that has timed out take effect, as the session's own policy says.

    timeout-skip and default-action write an entry for each silent agent; human writes nothing.

    Examples:
      moot debate tick api-design.md
    """
    from moot.debate.escalation import overdue
    from moot.debate.writer import written

    now = session_clock(shell)()
    made: list[str] = []
    with locked(file):
        for draft in overdue(checked_file(file), now):
            addition = written(checked_file(file), draft, str(uuid.uuid4()), now)
            append(file, addition.text)
            made.append(addition.id)
    return _moved(file, shell, made)


@command(debate, "resume", "debate.resume")
@_file()
@click.option("--late", "how", flag_value="late", help="Give the late agent its time again.")
@click.option("--skip", "how", flag_value="skip", help="Pass over the late agent.")
def resume(shell: Shell, file: Path, how: str | None) -> Answer:
    """Let a session that waits for its operator go on. This is the operator's act.

    Examples:
      moot debate resume api-design.md --late
      moot debate resume api-design.md --skip
    """
    from moot.debate.escalation import resumption, skipped
    from moot.debate.writer import written

    if how is None:
        raise click.UsageError("say --late or --skip")
    now = session_clock(shell)()
    with locked(file):
        checked = checked_file(file)
        if how == "late":
            append(file, resumption(checked, now))
            return _moved(file, shell, [])
        addition = written(checked, skipped(checked, now), str(uuid.uuid4()), now)
        append(file, addition.text)
    return _moved(file, shell, [addition.id])


@command(debate, "close", "debate.close")
@_file()
@click.option("--reason", required=True, metavar="T", help="Why it ends.")
def close(shell: Shell, file: Path, reason: str) -> Answer:
    """End a session. This is the operator's act, and is written in the name of `system`.

    Examples:
      moot debate close api-design.md --reason "Decided in the meeting."
    """
    from moot.debate.writer import closed

    with locked(file):
        addition = closed(
            checked_file(file), text_argument(reason), str(uuid.uuid4()), session_clock(shell)()
        )
        append(file, addition.text)
    return _moved(file, shell, [addition.id])


def _moved(file: Path, shell: Shell, entries: list[str]) -> Answer:
    from moot.debate.views import status_data

    state = status_data(checked_file(file), session_clock(shell)())
    kept = ("state", "round", "turn", "next", "deadline", "ended_at_round")
    data = {"entries": entries, **{key: state[key] for key in kept}}
    return Answer(data, lambda: lines.moved(data))
