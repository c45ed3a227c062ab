"""`moot ask`: a question to several participants, a short debate, a result for you to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Refused
from moot.surfaces.cli.runs.ended_run import ended_data, exit_code, room_of
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.agents.spec import Spec
    from moot.flows.decisions.ask import Asked


@command(None, "ask", "ask")
@click.argument("question", required=False)
@click.option(
    "--with",
    "participants",
    multiple=True,
    metavar="[NAME=]SPEC,...",
    help="Who is asked: cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human.",
)
@click.option("--context", default="", metavar="T", help="What they should know (- or @file).")
@click.option("--option", "options", multiple=True, metavar="T", help="An answer to choose from.")
@click.option(
    "--rule",
    type=click.Choice(["majority", "weighted", "unanimous"]),
    default="majority",
    show_default=True,
    help="When they agree.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=2,
    show_default=True,
    help="How often each may speak.",
)
@click.option(
    "--chamber",
    type=click.Choice(["debate", "parliament"]),
    default="debate",
    show_default=True,
    help="Where it is argued.",
)
@click.option(
    "--motive",
    "motives",
    multiple=True,
    metavar="NAME=T[,T]",
    help="What NAME stands for in a parliament; else it says so itself.",
)
@click.option("--resume", metavar="ID", help="Go on with a question that was interrupted.")
@limit_options
def ask(
    shell: Shell,
    question: str | None,
    participants: tuple[str, ...],
    context: str,
    options: tuple[str, ...],
    rule: str,
    rounds: int,
    chamber: str,
    motives: tuple[str, ...],
    resume: str | None,
    **limits: Any,
) -> Answer:
    """Ask several participants: first answers, a debate about the most frequent, a result.

    Each answers alone first. The answer given most often becomes the motion, which they argue and
    vote on. What comes out waits for your word: `moot decide`. Participants without a name get a
    new one, with a key of its own.

    Examples:
      moot ask "Queue: Postgres or Kafka?" --with "cmd:claude -p,cmd:codex exec"
      moot ask "Ship it?" --with "rules:approve,rules:sceptic,rules:majority" --context @notes.md
      moot ask "Which cache?" --chamber parliament --with "ann-lee=cmd:claude -p,cmd:codex exec"
          --motive ann-lee=cost,safety
      moot ask --resume q-7
    """
    from moot.flows.decisions import ask as asking
    from moot.flows.decisions import questions
    from moot.protocols.debate.model import ConsensusMode
    from moot.protocols.decision.model import ChamberKind
    from moot.protocols.decision.views import shorten_question

    space = shell.workspace
    _require_own_keys(shell)
    if (question is None) == (resume is None):
        raise click.UsageError("give a QUESTION, or --resume ID")
    specs = _specs(participants)
    if resume is None and not specs:
        raise click.UsageError("name who is asked: --with SPEC,SPEC")
    if resume is not None:
        decision = questions.id_of(resume)
        state = questions.question_of(space, decision)
        seated = _again(specs, state) if specs else questions.recorded_specs(state)
    else:
        asked = questions.Question(
            text_argument(question or ""),
            specs,
            text_argument(context),
            options,
            ConsensusMode(rule),
            rounds,
            ChamberKind(chamber),
            _motives(motives),
        )
        decision, seated = questions.begin(space, asked, room_of(shell))
    from moot.surfaces.cli.runs.live_run import watching

    name = f"{decision}: {shorten_question(questions.state_of(space, decision).question)}"
    with watching(name, _PATIENCE.format(decision)) as watch:
        room = room_of(shell)
        done = asking.go_on(space, decision, seated, room, limits_of(limits), watch)
    return _answer(done, people=bool(space.engine.registry().human_keys()))


# The wait is the session's own rule, set when it was opened.
_PATIENCE = (
    "Ctrl-C keeps everything, `moot ask --resume {}` goes on; "
    "asked with `--turn-seconds N`, a question waits no longer than that"
)


def _require_own_keys(shell: Shell) -> None:
    """Everybody who is asked signs with a key of this folder: not for one who acts as one agent."""
    if shell.acting is not None:
        raise Refused(
            "not_you",
            f"you are {shell.acting}; this would sign for everybody who is asked",
            hint="run it yourself, without --as and outside of `moot run`",
        )


def _specs(texts: tuple[str, ...]) -> tuple[Spec, ...]:
    from moot.agents.spec import read_list

    return tuple(spec for text in texts for spec in read_list(text))


def _motives(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """`NAME=cost,safety`, each name once."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, said, listed = text.partition("=")
        if not said or name.strip() in found:
            raise click.UsageError(f"--motive {text!r}: NAME=MOTIVE[,MOTIVE], each NAME once")
        found[name.strip()] = tuple(one.strip() for one in listed.split(","))
    return found


def _again(specs: tuple[Spec, ...], state: Any) -> dict[str, Spec]:
    """Named again for a question that has its participants: in their order, or by name."""
    from moot.flows.runs.seats import require_distinct_names

    require_distinct_names(specs)
    names = [seat.agent for seat in state.seats]
    unnamed = iter([name for name in names if name not in {spec.name for spec in specs}])
    found = {spec.name or next(unnamed, ""): spec for spec in specs}
    if len(specs) > len(names) or not set(found) <= set(names):
        raise Refused(
            "not_a_participant",
            "someone named here takes no part in this",
            hint=f"those who take part: {', '.join(names)}",
        )
    return found


def _answer(done: Asked, *, people: bool) -> Answer:
    from moot.protocols.decision.views import describe_decision
    from moot.surfaces.cli.decisions import ask_lines as lines

    ended = done.ended
    data = {
        "decision": describe_decision(done.decision, done.state),
        "file": str(done.file) if done.file else None,
        "run": None if ended is None else ended_data(ended),
        "outcome": done.outcome or None,
        "restored": done.lost.value if done.lost else None,
    }
    return Answer(data, lambda: lines.asked(done, people), 0 if ended is None else exit_code(ended))
