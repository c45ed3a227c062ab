"""`moot decide`: a person's ruling on a decision."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api import decisions
from moot.surfaces.cli.decisions.decision_lines import costs, notes
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.shell import Shell, command, document, text_argument


@command(None, "decide", "decide")
@click.argument("decision", metavar="ID")
@click.argument("word", type=click.Choice(decisions.RULINGS))
@click.option("--reason", required=True, metavar="T", help="Why (- or @file).")
@click.option("--text", metavar="FILE|-", help="The text that stands instead, for amend.")
@click.option("--anew", is_flag=True, help="A veto also ends what was sent back just now.")
@click.option("--sha256", metavar="HASH", help="Only if this is the hash of the text that waits.")
def decide(
    shell: Shell,
    decision: str,
    word: str,
    reason: str,
    text: str | None,
    anew: bool,
    sha256: str | None,
) -> Answer:
    """Approve, veto or amend what came out. This is a person's act, under a person's key.

    A veto begins another decision with your reason in its context; a parliament goes on itself,
    with your reason as guidance. Amend puts your own text in the place of what came out; of a
    parliament's bill it is the solution, or JSON with the parts that change. What was argued and
    who disagreed stays on record either way. The same veto twice is one; --anew ends a session
    that was sent back before it is argued further, and another decision begins.

    Examples:
      moot decide q-7 approve --reason "The cheaper one, and we know it."
      moot decide q-7 veto --reason "No new servers this year."
      moot decide q-7 amend --reason "With a limit." --text decision.md
    """
    if (text is not None) != (word == "amend"):
        raise click.UsageError("--text belongs to amend, and amend needs it")
    if anew and word != "veto":
        raise click.UsageError("--anew belongs to veto")
    why = text_argument(reason)
    instead = document(text) if text is not None else None
    ruled = decisions.decide(
        shell.session, decision, word, why, text=instead, anew=anew, sha256=sha256
    )
    return Answer(ruled, lambda: _lines(ruled))


def _lines(ruled: decisions.RuledDecision) -> Iterable[str]:
    decision, ruling = ruled.decision, ruled.decision.word
    if ruling is None:  # a parliament takes a veto as guidance and goes on
        resume = f"moot ask --resume {decision.id}"
        yield f"{decision.id}: vetoed; it goes on with your reason: {resume}"
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
        yield f"{successor} supersedes it; go on: moot ask --resume {successor}"
