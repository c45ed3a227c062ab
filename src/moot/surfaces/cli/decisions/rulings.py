"""`moot council`, `decide`, `outcome` and `track`: agents at work answer a question, a person rules
on the result, and records later how it turned out. Also the lines that show a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from moot.api.decisions import council as councils
from moot.api.decisions import operations, outcomes
from moot.api.runs.limits import Cost, in_words
from moot.surfaces.cli.runs.running import ended_line
from moot.surfaces.terminal.answer import visible
from moot.surfaces.terminal.derive import Values, derive
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell

if TYPE_CHECKING:
    from moot.api.decisions.operations import AskedDecision, DecisionView

SECTIONS = {
    "Council": {
        "ask": "put a question to agents at work",
        "answer": "your answer to a question you were asked",
        "result": "the state of a question",
    }
}


@click.command("council", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def council() -> None:
    """Let agents that are already at work decide a question together.

    Each finds the question in its agenda and answers alone first. Then they debate the answer
    given most often, and vote. The result waits for a person: `moot decide`.
    """


@derive("council.ask", councils.ask, """
    QUESTION:text = text
    --with NAME,... = agents  Who is asked.
    --context T:text          What they should know (- or @file).
    --option T = options      An answer to choose from.
    --rule majority|weighted|unanimous  When they agree.
    --rounds 1..100           At most this many rounds.
    --key KEY                 Idempotency key: a repeat with the same key asks nothing.
""", group=council)  # fmt: skip
def ask(standing: councils.QuestionStanding) -> Iterable[str]:
    """Put QUESTION to agents that are registered here. Agents that do not answer are skipped.

    Examples:
      moot council ask "Which cache?" --with amber-otter,teal-crane
    """
    return _standing_lines(standing)


@derive("council.answer", councils.answer, """
    ID = decision
    TEXT
    --why TEXT  Your reasons, in a few sentences.
    --key KEY   Idempotency key: a repeat with the same key records nothing.
""", group=council)  # fmt: skip
def answer(standing: councils.QuestionStanding) -> Iterable[str]:
    """Answer a question you were asked, before you see the other answers.

    TEXT is the answer itself in one short sentence. Once all have answered, `moot agenda` says
    when it is your turn to argue.

    Examples:
      moot council answer q-7 "Postgres" --why "We run it already"
    """
    return _standing_lines(standing)


@derive("council.result", councils.result, "ID = decision", group=council)
def result(standing: councils.QuestionStanding) -> Iterable[str]:
    """Show the state of a question, after applying every time limit that has passed.

    Examples:
      moot council result q-7
    """
    return _standing_lines(standing)


def _standing_lines(standing: councils.QuestionStanding) -> Iterable[str]:
    decision = standing.decision
    yield f"{decision.id}: {visible(decision.title)}"
    if decision.motion is not None:
        yield f"motion: {visible(decision.motion.text)}"
    if decision.result is not None:
        yield f"{decision.result.result}: {visible(decision.result.summary)}"
    elif standing.waits_for:
        yield f"waits for {', '.join(standing.waits_for)}"
    if standing.next is not None:
        yield f"next: {standing.next}"


def _require_own_options(_shell: Shell, values: Values) -> Values:
    if (values["text"] is not None) != (values["ruling"] == "amend"):
        raise click.UsageError("--text belongs to amend, and amend needs it")
    if values["anew"] and values["ruling"] != "veto":
        raise click.UsageError("--anew belongs to veto")
    return values


@derive("decide", operations.decide, f"""
    ID = decision
    {"|".join(operations.RULINGS)} = ruling(word)
    --reason T:text  Why (- or @file).
    --text FILE|-    For amend: the text that replaces the result.
    --anew           For veto: also end the session that a veto sent back just now.
    --sha256 HASH    Rule only if the text that waits has this hash.
""", prepare=_require_own_options)  # fmt: skip
def decide(ruled: operations.RuledDecision) -> Iterator[str]:
    """Approve, veto or amend a result, as a person with your own key.

    A veto starts another decision with your reason in its context; a parliament continues instead,
    with your reason as guidance. Amend replaces the result by your own text: for a parliament's
    bill the solution, or JSON with the parts that change. The arguments and the dissent stay on
    record either way. Repeating a veto changes nothing; with --anew it ends a session that was just
    sent back, and another decision starts.

    Examples:
      moot decide q-7 approve --reason "The cheaper one, and we know it."
      moot decide q-7 veto --reason "No new servers this year."
      moot decide q-7 amend --reason "With a limit." --text decision.md
    """
    decision, ruling = ruled.decision, ruled.decision.word
    if ruling is None:  # a parliament takes a veto as guidance and goes on
        resume = f"moot ask --resume {decision.id}"
        yield f"{decision.id}: vetoed; it continues with your reason: {resume}"
        return
    how = "" if ruling.attended else " (unattended: the passphrase came from a file)"
    word = f"{ruling.word.value} {decision.against_result}".strip()
    yield f"{decision.id}: {word} by {ruling.by}{how}: {visible(ruling.reason)}"
    if decision.result is not None and decision.result.dissent:
        yield f"dissent kept: {', '.join(decision.result.dissent)}"
    yield from notes(decision)
    yield from costs(decision)
    if decision.superseded_by is not None:
        successor = decision.superseded_by
        yield f"{successor} supersedes it; to continue: moot ask --resume {successor}"


OUTCOMES: Final = ("right", "wrong", "mixed")
_WAYS: Final = (
    ("the single best so far", "single_best"),
    ("the vote before arguing", "vote_before"),
    ("the vote after arguing", "vote_after"),
)
WIDEST_DOTS: Final = 30


class _Outcome(click.Choice[str]):
    """The last argument. If it is missing, click takes an id for it: say what is missing."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in OUTCOMES:
            raise click.UsageError(
                f"say how it turned out, after {value}: right, wrong or mixed", ctx
            )
        return super().convert(value, param, ctx)


def _require_ids(_shell: Shell, values: Values) -> Values:
    if not values["decisions"]:
        raise click.MissingParameter(param_hint="'ID...'", param_type="argument")
    return values


@derive("outcome", outcomes.judge, """
    ID...:optional = decisions
    right|wrong|mixed = outcome
    --reason T:text  How you know (- or @file).
    --answer T       The answer that proved right.
""", types={"outcome": _Outcome(OUTCOMES)}, prepare=_require_ids)  # fmt: skip
def outcome(made: outcomes.JudgedDecisions) -> Iterator[str]:
    """Record how decisions turned out, as a person with your own key.

    It judges the answer that was acted on; --answer names the one that proved right. Run it again
    to correct an outcome: the first one stays on record. `moot track` counts them.

    Examples:
      moot outcome q-7 right --reason "Half a year without an incident."
      moot outcome q-3 q-4 wrong --answer Kafka --reason "Both queues were full in May."
    """
    for each in made.judged:
        before = f" (first called {each.first})" if each.first != each.outcome else ""
        answer = f"; {visible(each.answer)} proved right" if each.answer else ""
        judged = f"{each.outcome}{before} by {each.by}{answer}"
        yield f"{each.decision}: {judged}: {visible(each.reason)}"
    yield "`moot track` shows how good each participant's forecasts were"


@derive("track", outcomes.track, "-o PAGE = file")
def track(counted: outcomes.Track, file: Path | None) -> Iterable[str]:
    """Show how good each participant's forecasts were, and whether arguing made them better.

    Counts decisions whose outcome a person recorded with `moot outcome`. Scores are Brier scores:
    0 is perfect, 0.25 is guessing, 1 is sure and wrong. Below 30 outcomes it shows dots and counts
    and ranks no one: a ranking would be chance.

    Examples:
      moot track
      moot track -o track.html --open
      moot track --json
    """
    written = [f"written to {file}"] if file is not None else []
    return (*_track_lines(counted), *written)


def _track_lines(track: outcomes.Track) -> Iterable[str]:
    unjudged = track.decisions - track.judged
    none = "has none" if unjudged == 1 else "have none"
    yield f"{track.judged} of {track.decisions} decisions have an outcome; {unjudged} {none}"
    if not track.judged:
        yield 'say how one turned out: moot outcome ID right --reason "..."'
        return
    if not track.enough:
        yield "no ranking below 30 outcomes: a dot is right, an x is wrong"
    for title, records in (("participants", track.participants), ("models", track.models)):
        yield ""
        yield f"{title}:"
        yield from (_record_line(each, track.enough) for each in records)
    yield ""
    for label, field in _WAYS:
        way: outcomes.DecidingWay = getattr(track, field)
        left = f", {way.open} open" if way.open else ""
        yield f"{label}: right {way.right}, wrong {way.wrong}{left}"
    if track.voters is not None:
        voters = track.voters
        yield (
            f"{voters.participants} participants scattered like {voters.voters:.1f} independent"
            f" ones ({voters.interval.low:.1f} to {voters.interval.high:.1f})"
        )


def _record_line(record: outcomes.ParticipantRecord, is_enough: bool) -> str:
    wrong = record.scored - record.right
    if is_enough and record.last_score is not None:
        low, high = record.interval.low, record.interval.high
        counts = f"score {record.last_score:.3f} ({low:.2f} to {high:.2f}) of {record.scored}"
    elif record.right + wrong > WIDEST_DOTS:
        counts = f"{record.right} right, {wrong} wrong"
    else:
        counts = "·" * record.right + "x" * wrong or "nothing scored"
    changes = f"; changing its mind helped {record.helped}, hurt {record.hurt}"
    cost = "" if record.usd_per_right is None else f"; ${record.usd_per_right:.4f} a right one"
    moved = changes if record.helped or record.hurt else ""
    return f"  {visible(record.name)}: {counts}{moved}{cost}"


MOST_SHOWN = 160
WAITING = "waiting"


def asked(done: AskedDecision) -> Iterable[str]:
    decision = done.decision
    yield f"{decision.id}: {visible(decision.title)}"
    yield from _answers(decision)
    yield from _ranking(decision)
    if decision.motion is not None:
        yield f"motion: {visible(decision.motion.text)}"
    if done.restored is not None:
        lost = done.restored.replace("-", " ")
        yield visible(f"{done.restored_file} was {lost}: it was restored from the record")
    for change in done.changes:
        after = f" after {', '.join(change.after)}" if change.after else ""
        moved = f"{change.agent}, {change.before} -> {change.now}{after}"
        yield visible(f"changed: {moved}: {_shortened(change.why)}")
    yield from notes(decision)
    if done.run is not None:
        yield ended_line(done.run)
    yield from _result(done)


def _answers(decision: DecisionView) -> Iterable[str]:
    kinds = {
        seat.agent: f"{seat.spec} (scripted voice)" if seat.scripted else seat.spec
        for seat in decision.participants
    }
    rows = [
        (
            first.agent,
            kinds[first.agent],
            f"({first.failure or first.why})" if first.answer is None else first.answer,
        )
        for first in decision.answers
    ]
    return listing(rows, ("WHO", "WHAT IT IS", "FIRST ANSWER")) if rows else ()


def _ranking(decision: DecisionView) -> Iterable[str]:
    """Show the choice of each rule, and whether the rules agree."""
    report = decision.ranking
    if report is None:
        return
    numbers = {choice.winner for choice in report.choices}
    for option in report.options:
        if report.differ or decision.motion is None or option.number in numbers:
            yield f"answer {option.number}: {visible(_shortened(option.text))}"
    if len({choice.sentence for choice in report.choices}) == 1:
        yield f"ranked by all rules: {report.choices[0].sentence}"
    else:
        yield from (f"ranked by {each.rule.value}: {each.sentence}" for each in report.choices)
    swayed = [choice.rule.value for choice in report.choices if choice.own_mattered]
    if swayed:
        rules = f"{', '.join(swayed)} would choose otherwise"
        yield f"note: if each participant had ranked its own answer last, {rules}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_SHOWN else f"{line[: MOST_SHOWN - 1]}…"


def notes(decision: DecisionView) -> Iterable[str]:
    """Show what else to consider besides the tally (AGT-081)."""
    for model, names in decision.shared_models.items():
        yield f"note: {', '.join(names)} are the same, {visible(model)}: agreement weighs less"
    seats = len(decision.participants)
    if decision.custodians == 1 and seats > 1:
        yield f"note: {seats} participants, 1 key folder: their keys are kept together"


def costs(decision: DecisionView) -> Iterable[str]:
    """Show the cost, and each participant's part if tokens or money are known (AGT-081)."""
    total = _as_cost(decision.cost)
    yield f"cost: {in_words(total)}"
    if total.tokens or total.micros:
        for seat in decision.participants:
            if seat.cost.calls:
                yield f"  {seat.agent}: {in_words(_as_cost(seat.cost))}"


def _as_cost(recorded: msgspec.Struct) -> Cost:
    return Cost(*msgspec.structs.astuple(recorded))


def _result(done: AskedDecision) -> Iterable[str]:
    decision = done.decision
    if decision.result is not None:
        yield f"{decision.result.result.value}: {done.outcome}"
        if decision.result.dissent:
            outvoted = len(decision.result.dissent) > len(decision.result.approvers)
            yield f"{'against' if outvoted else 'dissent'}: {', '.join(decision.result.dissent)}"
    yield from (
        visible(f"absent in round {voice.round}: {voice.agent}: {voice.why}")
        for voice in done.absent
    )
    yield from costs(decision)
    if done.next is not None:
        waiting = decision.stage.value == WAITING
        yield f"{'waiting for you' if waiting else 'not finished'}: {done.next}"
