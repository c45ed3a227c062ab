"""`moot debate new` to `run`: the commands that write. In a workspace they sign, or say what they
observed; without one, or on a file that nothing is recorded of, the file is all there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote

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
from moot.core.text import plural
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.lines import number
from moot.surfaces.terminal.answer import paint
from moot.surfaces.terminal.derive import Values, derive
from moot.surfaces.terminal.output import OutputPath
from moot.surfaces.terminal.shell import Shell

_RECORDED = {"signed": ", and signed it", "observed": "; recorded as observed", None: ""}


def _choices(kind: Iterable[str]) -> str:
    return "|".join(kind)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


@derive("debate.new", writing.new, f"""
    FILE
    --title T                  What it is about, in one line.
    --agents A,B               Who takes part, in this order.
    --context T:text           What is known and asked (- or @file; the title).
    --turn-order {_choices(TurnOrder)}  Who speaks after whom.
    --max-turns-per-round INTEGER  1 to 10.
    --turn-timeout INTEGER     Seconds: 300, or a day (86400) where people take part and \
        escalation is human.
    --consensus-threshold NUMBER  The share that must approve, 0 to 1.
    --consensus-mode {_choices(ConsensusMode)}  How approval is counted.
    --escalation {_choices(Escalation)}  What happens when somebody does not speak in time.
    --max-rounds INTEGER       1 to 100.
    --output-format {_choices(OutputFormat)}  How entries are to be written.
    --defer-in-denominator     Agents who defer count as not approving.
    --supervisor-only          Supervised: only the supervisor names who is next.
    --default-action {_choices(DefaultAction)}  Escalation default-action: what is written for a \
        silent agent.
    --people A,B               Which of the agents are people.
""", types={"file": OutputPath(), "agents": _names, "consensus_threshold": number})  # fmt: skip
def new(made: writing.NewDebate) -> Iterator[str]:
    """Begin a session: a markdown file that anyone can read, and each agent appends to.

    A person may close the session by hand, with an entry of status closed that begins with
    "Session closed." Names that begin with human, and agents registered with --human, are people.

    The last four options are not part of the format's settings: they stand in the file as
    comments below them, and a program that does not know them passes over them.

    Examples:
      moot debate new api-design.md --title "Which API?" --agents amber-otter,teal-crane
      moot debate new plan.md --title "Ship?" --agents lead,dev --context @plan.txt
    """
    first = made.agents[0]
    yield f"{made.file}: a session of {', '.join(made.agents)}"
    if len(made.agents) == 1:
        yield "  note: one alone can only agree with itself; --agents A,B makes it a debate"
    yield from (f"  {one.severity}: {one.message}; {one.hint}" for one in made.findings)
    if made.escalation == "human":
        time, file = _seconds(made.turn_timeout), quote(made.file)
        yield f"  note: after {time} without an entry the session waits for its operator"
        yield f"  (`moot debate resume {file} --late`); --turn-timeout sets it, people get a day"
    yield f"  {paint('next:', 'bold')} moot debate add {made.file} --author {first} --stance ..."


def _v4(text: str) -> str:
    if not UUID_V4_PATTERN.fullmatch(text):
        raise click.BadParameter("an id is a lower-case UUID of version 4")
    return text


@derive("debate.add", writing.add, f"""
    FILE:path
    --author A                    Who speaks (default: --as or MOOT_AGENT).
    --stance S                    {', '.join(Stance)}.
    --confidence C                0.0 to 1.0.
    --summary T:text              The point, in one or two lines.
    --action-requested T          What should happen next.
    --next AGENT = next_agent     Who should speak next.
    --round N:1.. = round_number  Supervised: the supervisor begins round N before everyone has \
        spoken.
    --evidence T                  Files and addresses, with commas.
    --body T:text                 The argument, in markdown (- or @file).
    --escape                      Write comments in the body as visible text.
    --after-end                   Speak although the session has ended.
    --id UUID = entry_id          Its id, to try again safely.
""", types={"entry_id": _v4})  # fmt: skip
def add(added: writing.AddedEntry) -> Iterator[str]:
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
    how = "; it stood there already" if added.again else _RECORDED[added.recorded]
    yield f"round {added.round} turn {added.turn}: {added.author} has spoken{how}"
    yield f"{lines.STATES[added.state]}" + (f"; next: {added.next}" if added.next else "")
    for finding in added.findings:
        yield f"  {finding.severity} {finding.rule}: {finding.message} ({finding.hint})"


@derive("debate.add_context", writing.add_context, """
    FILE:path
    --title T  The heading of the subsection.
    TEXT
""")  # fmt: skip
def add_context(_added: writing.AddedContext, file: Path, title: str) -> Iterator[str]:
    """Add a subsection to the context (- or @file for the text). This is the operator's act.

    What stood in the file before is kept to the letter.

    Examples:
      moot debate add-context api-design.md --title "Added in round 2" "The budget was cut."
    """
    yield f"{file}: the context has a new part, {title}"


@derive("debate.tick", writing.tick, "FILE:path")
def tick(moved: writing.DebateProgress) -> Iterable[str]:
    """Let a turn that has timed out take effect, as the session's own policy says.

    timeout-skip and default-action write an entry for each silent agent; human writes nothing.

    Examples:
      moot debate tick api-design.md
    """
    return lines.moved(moved)


def _require_late_or_skip(_shell: Shell, values: Values) -> Values:
    if values["late"] is None:
        raise click.UsageError("say --late or --skip")
    return values


@derive("debate.resume", writing.resume, """
    FILE:path
    --late/--skip  Give the late agent its time again, or pass over it.
""", prepare=_require_late_or_skip)  # fmt: skip
def resume(moved: writing.DebateProgress) -> Iterable[str]:
    """Let a session that waits for its operator go on. This is the operator's act.

    Examples:
      moot debate resume api-design.md --late
      moot debate resume api-design.md --skip
    """
    return lines.moved(moved)


@derive("debate.close", writing.close, """
    FILE:path
    --reason T:text  Why it ends.
""")  # fmt: skip
def close(moved: writing.DebateProgress) -> Iterable[str]:
    """End a session. This is the operator's act.

    A person who takes part closes it with an entry of their own: --as NAME says who. If the
    operator is not one of the agents, a mark ends the session and `system` writes the final summary
    below it. After a deadlock that waits for its operator, the reason is what they decided.

    Examples:
      moot debate close api-design.md --reason "Decided in the meeting."
      moot --as human-ann debate close api-design.md --reason "We ship."
    """
    return lines.moved(moved)


@derive("debate.sign", writing.sign, """
    FILE:path
    --author A  Whose entries (default: --as or MOOT_AGENT).
""")  # fmt: skip
def sign(moved: writing.DebateProgress) -> Iterable[str]:
    """Sign the entries of yours that stand in the file and were only observed.

    Entries written by hand, or by a program that was interrupted, are recorded as seen; this
    says under your key that they are yours.

    Examples:
      moot debate sign api-design.md --author amber-otter
    """
    return lines.moved(moved, "signed")


def _seconds(count: int) -> str:
    """A time limit in words: `a day`, `5 minutes`, `90 seconds`."""
    if count == 86_400:
        return "a day"
    return plural(count // 60, "minute") if count % 60 == 0 else plural(count, "second")
