"""`moot debate ...`: the commands that write. In a workspace they sign, or say what they observed.

Without a workspace, or on a file that nothing is recorded of, the file is all there is.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.protocols.debate.model import (
    ConsensusMode,
    DefaultAction,
    Escalation,
    OutputFormat,
    Rules,
    Stance,
    TurnOrder,
)
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.group import (
    choice,
    debate,
    file_argument,
    number,
    operator_of,
    session_clock,
    space_of,
)
from moot.surfaces.terminal.answer import Answer, findings_json
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.flows.debate.session import Written


@command(debate, "new", "debate.new")
@file_argument()
@click.option("--title", required=True, metavar="T", help="What it is about, in one line.")
@click.option("--agents", required=True, metavar="A,B", help="Who takes part, in this order.")
@click.option("--context", metavar="T", help="What is known and asked (- or @file; the title).")
@click.option(
    "--turn-order",
    type=choice(TurnOrder),
    default="round-robin",
    show_default=True,
    help="Who speaks after whom.",
)
@click.option("--max-turns-per-round", type=int, default=1, show_default=True, help="1 to 10.")
@click.option("--turn-timeout", type=int, default=300, show_default=True, help="Seconds.")
@click.option(
    "--consensus-threshold",
    type=number,
    default="0.7",
    show_default=True,
    help="The share that must approve, 0 to 1.",
)
@click.option(
    "--consensus-mode",
    type=choice(ConsensusMode),
    default="majority",
    show_default=True,
    help="How approval is counted.",
)
@click.option(
    "--escalation",
    type=choice(Escalation),
    default="human",
    show_default=True,
    help="What happens when somebody does not speak in time.",
)
@click.option("--max-rounds", type=int, default=5, show_default=True, help="1 to 100.")
@click.option(
    "--output-format",
    type=choice(OutputFormat),
    default="structured",
    show_default=True,
    help="How entries are to be written.",
)
@click.option(
    "--defer-in-denominator", is_flag=True, help="Agents who defer count as not approving."
)
@click.option(
    "--supervisor-only", is_flag=True, help="Supervised: only the supervisor names who is next."
)
@click.option(
    "--default-action",
    type=choice(DefaultAction),
    default="neutral",
    show_default=True,
    help="Escalation default-action: what is written for a silent agent.",
)
def new(
    shell: Shell, file: Path, title: str, agents: str, context: str | None, **rules: Any
) -> Answer:
    """Begin a session: a markdown file that anyone can read, and each agent appends to.

    The last three options are not part of the format's settings: they stand in the file as
    comments below them, and a program that does not know them passes over them.

    Examples:
      moot debate new api-design.md --title "Which API?" --agents amber-otter,teal-crane
      moot debate new plan.md --title "Ship?" --agents lead,dev --context @plan.txt
    """
    from moot.flows.debate import session
    from moot.protocols.debate.writer import make_session_text

    asked = text_argument(context) if context is not None else title
    session_id = str(uuid.uuid4())
    text = make_session_text(
        title, asked, _rules(agents, rules), session_id, session_clock(shell)()
    )
    made = session.new(file, text, space_of(shell), shell.acting)
    names = [agent.strip() for agent in agents.split(",")]
    data = {"file": str(made), "session_id": session_id, "title": title, "agents": names}
    return Answer(data, lambda: lines.made(data))


def _rules(agents: str, given: dict[str, Any]) -> Rules:
    """What was asked for, unjudged: the written file is checked as any other."""
    kinds = {
        "turn_order": TurnOrder,
        "consensus_mode": ConsensusMode,
        "escalation": Escalation,
        "output_format": OutputFormat,
        "default_action": DefaultAction,
    }
    typed: dict[str, Any] = {
        key: kinds[key](value) if key in kinds else value for key, value in given.items()
    }
    return Rules(tuple(agent.strip() for agent in agents.split(",")), **typed)


def _v4(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    from moot.protocols.debate.model import UUID_V4_PATTERN

    if text is not None and not UUID_V4_PATTERN.fullmatch(text):
        raise click.BadParameter("an id is a lower-case UUID of version 4")
    return text


@command(debate, "add", "debate.add")
@file_argument()
@click.option("--author", metavar="A", help="Who speaks (default: --as or MOOT_AGENT).")
@click.option("--stance", metavar="S", default="", help=f"{', '.join(Stance)}.")
@click.option("--confidence", metavar="C", default="", help="0.0 to 1.0.")
@click.option("--summary", metavar="T", default="", help="The point, in one or two lines.")
@click.option("--action-requested", metavar="T", default="n/a", help="What should happen next.")
@click.option("--next", "next_agent", metavar="AGENT", default="", help="Who should speak next.")
@click.option("--evidence", metavar="T", default="n/a", help="Files and addresses, with commas.")
@click.option("--body", metavar="T", default="", help="The argument, in markdown (- or @file).")
@click.option("--escape", is_flag=True, help="Write comments in the body as visible text.")
@click.option("--after-end", is_flag=True, help="Speak although the session has ended.")
@click.option("--id", "entry_id", metavar="UUID", callback=_v4, help="Its id, to try again safely.")
def add(
    shell: Shell,
    file: Path,
    author: str | None,
    escape: bool,
    after_end: bool,
    entry_id: str | None,
    **given: Any,
) -> Answer:
    """Append one entry: its id, turn, round and time are filled in.

    Refused if it is someone else's turn, an entry is open, the session has ended, or the text
    would change the file's structure. Nothing that was yielded before is touched; an entry of
    your own that was never yielded is written anew. In a workspace your key signs it.

    Examples:
      moot debate add api-design.md --author amber-otter --stance approve --confidence 0.8
          --summary "REST will do." --body @argument.md
    """
    from moot.flows.debate import session
    from moot.protocols.debate.drafts import EntryDraft

    draft = EntryDraft(author=shell.actor(author), **_said(given))
    done = session.add(
        file,
        draft,
        session_clock(shell),
        space_of(shell),
        entry_id=entry_id,
        escape=escape,
        after_end=after_end,
    )
    return _added(shell, done)


def _said(given: dict[str, Any]) -> dict[str, Any]:
    return {
        **given,
        "body": text_argument(given["body"]),
        "summary": text_argument(given["summary"]),
    }


def _added(shell: Shell, done: Written) -> Answer:
    from moot.protocols.debate.views import view_status

    status = view_status(done.checked, session_clock(shell)())
    entry = done.checked.document.find_entry(done.entries[0])
    data = {
        "entry": done.entries[0],
        "author": entry.author if entry else None,
        "round": entry.round if entry else None,
        "turn": entry.turn if entry else None,
        "state": status.state,
        "next": status.next,
        "recorded": done.recorded,
        "again": done.again,
        "findings": findings_json(done.findings),
    }
    return Answer(data, lambda: lines.added(data))


@command(debate, "add-context", "debate.add_context")
@file_argument()
@click.option("--title", required=True, metavar="T", help="The heading of the subsection.")
@click.argument("text")
def add_context(shell: Shell, file: Path, title: str, text: str) -> Answer:
    """Add a subsection to the context (- or @file for the text). This is the operator's act.

    What stood in the file before is kept to the letter.

    Examples:
      moot debate add-context api-design.md --title "Added in round 2" "The budget was cut."
    """
    from moot.flows.debate import session

    said = text_argument(text)
    clock, space, person = session_clock(shell), space_of(shell), operator_of(shell)
    done = session.add_context(file, title, said, clock, space, person)
    data = {"file": str(file), "title": title, "recorded": done.recorded}
    return Answer(data, lambda: [f"{file}: the context has a new part, {title}"])


@command(debate, "tick", "debate.tick")
@file_argument()
def tick(shell: Shell, file: Path) -> Answer:
    """Let a turn that has timed out take effect, as the session's own policy says.

    timeout-skip and default-action write an entry for each silent agent; human writes nothing.

    Examples:
      moot debate tick api-design.md
    """
    from moot.flows.debate import session

    return _moved(shell, session.tick(file, session_clock(shell), space_of(shell)))


@command(debate, "resume", "debate.resume")
@file_argument()
@click.option("--late", "how", flag_value="late", help="Give the late agent its time again.")
@click.option("--skip", "how", flag_value="skip", help="Pass over the late agent.")
def resume(shell: Shell, file: Path, how: str | None) -> Answer:
    """Let a session that waits for its operator go on. This is the operator's act.

    Examples:
      moot debate resume api-design.md --late
      moot debate resume api-design.md --skip
    """
    from moot.flows.debate import session

    if how is None:
        raise click.UsageError("say --late or --skip")
    act = session.resume_late if how == "late" else session.resume_skipping
    return _moved(shell, act(file, session_clock(shell), space_of(shell), operator_of(shell)))


@command(debate, "close", "debate.close")
@file_argument()
@click.option("--reason", required=True, metavar="T", help="Why it ends.")
def close(shell: Shell, file: Path, reason: str) -> Answer:
    """End a session. This is the operator's act, and is written in the name of `system`.

    Examples:
      moot debate close api-design.md --reason "Decided in the meeting."
    """
    from moot.flows.debate import session

    said = text_argument(reason)
    done = session.close(file, said, session_clock(shell), space_of(shell), operator_of(shell))
    return _moved(shell, done)


@command(debate, "sign", "debate.sign")
@file_argument()
@click.option("--author", metavar="A", help="Whose entries (default: --as or MOOT_AGENT).")
def sign(shell: Shell, file: Path, author: str | None) -> Answer:
    """Sign the entries of yours that stand in the file and were only observed.

    Entries written by hand, or by a program that was interrupted, are recorded as seen; this
    says under your key that they are yours.

    Examples:
      moot debate sign api-design.md --author amber-otter
    """
    from moot.flows.debate import session

    name = shell.actor(author)
    done = session.sign(file, name, session_clock(shell), shell.workspace)
    return _moved(shell, done, "signed")


def _moved(shell: Shell, done: Written, how: str = "written") -> Answer:
    from moot.protocols.debate.views import view_status

    status = view_status(done.checked, session_clock(shell)())
    kept = ("state", "round", "turn", "next", "deadline", "ended_at_round")
    data: dict[str, Any] = {
        "entries": list(done.entries),
        **{name: getattr(status, name) for name in kept},
        "recorded": done.recorded,
    }
    return Answer(data, lambda: lines.moved(data, how))
