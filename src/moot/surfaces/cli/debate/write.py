"""`moot debate ...`: the commands that write. In a workspace they sign, or say what they observed.

Without a workspace, or on a file that nothing is recorded of, the file is all there is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from moot.api.debates import writing
from moot.api.debates.writing import (
    UUID_V4_PATTERN,
    ConsensusMode,
    DefaultAction,
    Escalation,
    OutputFormat,
    Stance,
    TurnOrder,
)
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.options import choice, file_argument, number
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command, text_argument


@command(None, "new", "debate.new")
@file_argument(is_new=True)
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
@click.option(
    "--turn-timeout",
    type=int,
    help="Seconds: 300, or a day (86400) where people take part and escalation is human.",
)
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
@click.option("--people", metavar="A,B", default="", help="Which of the agents are people.")
def new(
    shell: Shell,
    file: Path,
    title: str,
    agents: str,
    context: str | None,
    people: str,
    **rules: Any,
) -> Answer:
    """Begin a session: a markdown file that anyone can read, and each agent appends to.

    A person may close the session by hand, with an entry of status closed that begins with
    "Session closed." Names that begin with human, and agents registered with --human, are people.

    The last four options are not part of the format's settings: they stand in the file as
    comments below them, and a program that does not know them passes over them.

    Examples:
      moot debate new api-design.md --title "Which API?" --agents amber-otter,teal-crane
      moot debate new plan.md --title "Ship?" --agents lead,dev --context @plan.txt
    """
    made = writing.new(
        shell.session,
        file,
        title,
        [agent.strip() for agent in agents.split(",")],
        context=None if context is None else text_argument(context),
        people=[name.strip() for name in people.split(",") if name.strip()],
        **rules,
    )
    return Answer(made, lambda: lines.made(made))


def _v4(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    if text is not None and not UUID_V4_PATTERN.fullmatch(text):
        raise click.BadParameter("an id is a lower-case UUID of version 4")
    return text


@command(None, "add", "debate.add")
@file_argument()
@click.option("--author", metavar="A", help="Who speaks (default: --as or MOOT_AGENT).")
@click.option("--stance", metavar="S", default="", help=f"{', '.join(Stance)}.")
@click.option("--confidence", metavar="C", default="", help="0.0 to 1.0.")
@click.option("--summary", metavar="T", default="", help="The point, in one or two lines.")
@click.option("--action-requested", metavar="T", default="n/a", help="What should happen next.")
@click.option("--next", "next_agent", metavar="AGENT", default="", help="Who should speak next.")
@click.option(
    "--round",
    "round_number",
    type=click.IntRange(min=1),
    metavar="N",
    help="Supervised: the supervisor begins round N before everyone has spoken.",
)
@click.option("--evidence", metavar="T", default="n/a", help="Files and addresses, with commas.")
@click.option("--body", metavar="T", default="", help="The argument, in markdown (- or @file).")
@click.option("--escape", is_flag=True, help="Write comments in the body as visible text.")
@click.option("--after-end", is_flag=True, help="Speak although the session has ended.")
@click.option("--id", "entry_id", metavar="UUID", callback=_v4, help="Its id, to try again safely.")
def add(shell: Shell, file: Path, body: str, summary: str, **entry: Any) -> Answer:
    """Append one entry: its id, turn, round and time are filled in.

    Refused if it is someone else's turn, an entry is open, the session has ended, or the text
    would change the file's structure. Nothing that was yielded before is touched; an entry of
    your own that was never yielded is written anew. In a workspace your key signs it.

    Examples:
      moot debate add api-design.md --author amber-otter --stance approve --confidence 0.8
          --summary "REST will do." --body @argument.md
      moot debate add plan.md --author lead --round 2 --next dev --stance neutral
          --confidence 0.5 --summary "Again, with figures."
    """
    added = writing.add(
        shell.session, file, body=text_argument(body), summary=text_argument(summary), **entry
    )
    return Answer(added, lambda: lines.added(added))


@command(None, "add-context", "debate.add_context")
@file_argument()
@click.option("--title", required=True, metavar="T", help="The heading of the subsection.")
@click.argument("text")
def add_context(shell: Shell, file: Path, title: str, text: str) -> Answer:
    """Add a subsection to the context (- or @file for the text). This is the operator's act.

    What stood in the file before is kept to the letter.

    Examples:
      moot debate add-context api-design.md --title "Added in round 2" "The budget was cut."
    """
    added = writing.add_context(shell.session, file, title, text_argument(text))
    return Answer(added, lambda: [f"{file}: the context has a new part, {title}"])


@command(None, "tick", "debate.tick")
@file_argument()
def tick(shell: Shell, file: Path) -> Answer:
    """Let a turn that has timed out take effect, as the session's own policy says.

    timeout-skip and default-action write an entry for each silent agent; human writes nothing.

    Examples:
      moot debate tick api-design.md
    """
    moved = writing.tick(shell.session, file)
    return Answer(moved, lambda: lines.moved(moved))


@command(None, "resume", "debate.resume")
@file_argument()
@click.option(
    "--late/--skip",
    "late",
    default=None,
    help="Give the late agent its time again, or pass over it.",
)
def resume(shell: Shell, file: Path, late: bool | None) -> Answer:
    """Let a session that waits for its operator go on. This is the operator's act.

    Examples:
      moot debate resume api-design.md --late
      moot debate resume api-design.md --skip
    """
    if late is None:
        raise click.UsageError("say --late or --skip")
    moved = writing.resume(shell.session, file, late=late)
    return Answer(moved, lambda: lines.moved(moved))


@command(None, "close", "debate.close")
@file_argument()
@click.option("--reason", required=True, metavar="T", help="Why it ends.")
def close(shell: Shell, file: Path, reason: str) -> Answer:
    """End a session. This is the operator's act.

    A person who takes part closes it with an entry of their own: --as NAME says who. If the
    operator is not one of the agents, a mark ends the session and `system` writes the final summary
    below it. After a deadlock that waits for its operator, the reason is what they decided.

    Examples:
      moot debate close api-design.md --reason "Decided in the meeting."
      moot --as human-ann debate close api-design.md --reason "We ship."
    """
    moved = writing.close(shell.session, file, text_argument(reason))
    return Answer(moved, lambda: lines.moved(moved))


@command(None, "sign", "debate.sign")
@file_argument()
@click.option("--author", metavar="A", help="Whose entries (default: --as or MOOT_AGENT).")
def sign(shell: Shell, file: Path, author: str | None) -> Answer:
    """Sign the entries of yours that stand in the file and were only observed.

    Entries written by hand, or by a program that was interrupted, are recorded as seen; this
    says under your key that they are yours.

    Examples:
      moot debate sign api-design.md --author amber-otter
    """
    moved = writing.sign(shell.session, file, author=author)
    return Answer(moved, lambda: lines.moved(moved, "signed"))
