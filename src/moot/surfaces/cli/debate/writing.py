"""`moot debate new` to `sign`: the commands that write. In a workspace they sign the entries, or
record them as observed; without one, or for a file without a record, they only write the file.
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
from moot.surfaces.cli.debate.lines import read_share
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
    --turn-timeout INTEGER     Seconds (default: 300, or 86400 if people take part and escalation \
        is human).
    --consensus-threshold NUMBER  The share that must approve, 0 to 1.
    --consensus-mode {_choices(ConsensusMode)}  How approval is counted.
    --escalation {_choices(Escalation)}  What happens if an agent does not speak in time.
    --max-rounds INTEGER       1 to 100.
    --output-format {_choices(OutputFormat)}  How entries are to be written.
    --defer-in-denominator     Agents who defer count as not approving.
    --supervisor-only          Supervised: only the supervisor names who is next.
    --default-action {_choices(DefaultAction)}  Escalation default-action: what is written for a \
        silent agent.
    --people A,B               Which of the agents are people.
""", types={"file": OutputPath(), "agents": _names, "consensus_threshold": read_share})  # fmt: skip
def new(made: writing.NewDebate) -> Iterator[str]:
    """Begin a session: a markdown file that anyone can read, and each agent appends to.

    A person may close the session by hand, with an entry of status closed that begins with
    "Session closed." Names that begin with human, and agents registered with --human, are people.

    The last four options are not settings of the format: they are comments in the file, which
    programs that do not know them ignore.

    Examples:
      moot debate new api-design.md --title "Which API?" --agents amber-otter,teal-crane
      moot debate new plan.md --title "Ship?" --agents lead,dev --context @plan.txt
    """
    first = made.agents[0]
    yield f"{made.file}: a session of {', '.join(made.agents)}"
    if len(made.agents) == 1:
        yield "  note: a single agent can only agree with itself; a debate needs --agents A,B"
    yield from (f"  {each.severity}: {each.message}; {each.hint}" for each in made.findings)
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
    --id UUID = entry_id          The entry's id: a repeat with the same id adds nothing.
""", types={"entry_id": _v4})  # fmt: skip
def add(added: writing.AddedEntry) -> Iterator[str]:
    """Append one entry; Moot fills in its id, turn, round and time.

    Refused if it is someone else's turn, an entry is open, the session has ended, or the text
    would change the file's structure. Finished entries are never changed; an unfinished entry of
    your own is replaced. In a workspace your key signs it.

    Examples:
      moot debate add api-design.md --author amber-otter --stance approve --confidence 0.8
          --summary "REST will do." --body @argument.md
      moot debate add plan.md --author lead --round 2 --next dev --stance neutral
          --confidence 0.5 --summary "Again, with figures."
    """
    how = "; it was there already" if added.again else _RECORDED[added.recorded]
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
    """Add a subsection to the context (- or @file for the text). For the operator.

    The rest of the file does not change.

    Examples:
      moot debate add-context api-design.md --title "Added in round 2" "The budget was cut."
    """
    yield f"{file}: the context has a new subsection, {title}"


@derive("debate.tick", writing.tick, "FILE:path")
def tick(progress: writing.DebateProgress) -> Iterable[str]:
    """Apply the timeout of a turn, by the session's own policy.

    timeout-skip and default-action write an entry for each silent agent; human writes nothing.

    Examples:
      moot debate tick api-design.md
    """
    return lines.progress_lines(progress)


def _require_late_or_skip(_shell: Shell, values: Values) -> Values:
    if values["late"] is None:
        raise click.UsageError("say --late or --skip")
    return values


@derive("debate.resume", writing.resume, """
    FILE:path
    --late/--skip  Give the late agent its time again, or skip its turn.
""", prepare=_require_late_or_skip)  # fmt: skip
def resume(progress: writing.DebateProgress) -> Iterable[str]:
    """Continue a session that waits for its operator. For the operator.

    Examples:
      moot debate resume api-design.md --late
      moot debate resume api-design.md --skip
    """
    return lines.progress_lines(progress)


@derive("debate.close", writing.close, """
    FILE:path
    --reason T:text  Why it ends.
""")  # fmt: skip
def close(progress: writing.DebateProgress) -> Iterable[str]:
    """End a session. For the operator.

    A person who takes part closes it with an entry of their own: --as NAME says who. If the
    operator is not one of the agents, a mark ends the session and `system` writes the final summary
    below it. After a deadlock that waits for its operator, the reason is what they decided.

    Examples:
      moot debate close api-design.md --reason "Decided in the meeting."
      moot --as human-ann debate close api-design.md --reason "We ship."
    """
    return lines.progress_lines(progress)


@derive("debate.sign", writing.sign, """
    FILE:path
    --author A  Whose entries (default: --as or MOOT_AGENT).
""")  # fmt: skip
def sign(progress: writing.DebateProgress) -> Iterable[str]:
    """Sign your entries that are in the file and were only observed.

    Entries written by hand, or by a program that was interrupted, are recorded as observed; this
    confirms with your key that they are yours.

    Examples:
      moot debate sign api-design.md --author amber-otter
    """
    return lines.progress_lines(progress, "signed")


def _seconds(count: int) -> str:
    """A time limit in words: `a day`, `5 minutes`, `90 seconds`."""
    if count == 86_400:
        return "a day"
    return plural(count // 60, "minute") if count % 60 == 0 else plural(count, "second")
