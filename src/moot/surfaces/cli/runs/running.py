"""Runs of participants: their limits as options, questions to a person, how a run ended.

A person gets short questions, one after the other, instead of the instructions that a model gets
about the form of its reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

import click

from moot.core.text import plural
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, paint, visible
from moot.surfaces.terminal.derive import Within
from moot.surfaces.terminal.shell import Shell

if TYPE_CHECKING:
    from moot.api.runs.limits import Brief, Limits, RunEnd, RunEnding


def _dollars(text: str) -> Decimal:
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        raise click.BadParameter(f"{text!r} is not an amount such as 1.50") from None
    if not amount.is_finite() or amount < 0:
        raise click.BadParameter(f"{text!r} is not an amount such as 1.50")
    return amount


_POSITIVE = click.IntRange(min=1)
_OPTIONS = (
    click.option("--max-turns", type=_POSITIVE, metavar="N", help="Stop after N turns."),
    click.option("--max-tokens", type=_POSITIVE, metavar="N", help="Stop after N tokens."),
    click.option("--max-usd", type=_dollars, metavar="X", help="Stop once this much is spent."),
    click.option("--max-seconds", type=_POSITIVE, metavar="S", help="Stop after S seconds."),
    click.option(
        "--turn-seconds",
        type=click.IntRange(1, 86_400),
        default=300,
        show_default=True,
        metavar="S",
        help="How long one answer may take.",
    ),
    click.option(
        "--env",
        "env",
        multiple=True,
        metavar="NAME",
        help="Another environment variable for cmd: programs; repeatable.",
    ),
)


def limit_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def limits_of(given: dict[str, Any]) -> Limits:
    from moot.api.runs.limits import Limits

    return Limits(
        turns=given["max_turns"],
        tokens=given["max_tokens"],
        usd=given["max_usd"],
        seconds=given["max_seconds"],
        turn_seconds=float(given["turn_seconds"]),
        env=tuple(given["env"]),
    )


def running(title: Callable[[dict[str, Any]], str], patience: str = "") -> Within:
    """Give a run its limits, a live display, and the terminal to ask a person."""

    @contextmanager
    def within(shell: Shell, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
        from moot.surfaces.cli.runs.live import watching

        with watching(title(values), patience) as watch:
            terminal = ShellTerminal(shell)
            yield {"limits": limits_of(values), "watch": watch, "terminal": terminal}

    return within


INTERRUPTED = 130


def ended_line(ended: RunEnding | RunEnd) -> str:
    """Say how a run ended, after how many turns, and what it cost.

    A run that is `settled` has nothing left to ask; how the vote ended is another matter.
    """
    from moot.api.runs.limits import StopReason, in_words

    how = "every turn is taken" if ended.stop is StopReason.SETTLED else ended.stop.value
    detail = f": {visible(ended.detail)}" if ended.detail else ""
    return f"{how}{detail} ({plural(ended.turns, 'turn')}, {in_words(ended.cost)})"


def exit_code(ended: RunEnding | RunEnd) -> int:
    """Return 0 if nothing is left to do here, 1 if the run was stopped, 130 if interrupted."""
    from moot.api.runs.limits import StopReason

    codes = {
        StopReason.SETTLED: DONE,
        StopReason.WAITING: DONE,
        StopReason.INTERRUPTED: INTERRUPTED,
    }
    return codes.get(ended.stop, REFUSED)


# The task in words for a person; other tasks are shown as models get them.
_TASKS: Final = {
    "first_answer": "Your own answer, please. The others see it only after they have given theirs.",
    "entry": "It is your turn: where do you stand on the motion, and why?",
    "vote": "It is your turn to vote.",
}
_LABELS: Final = {
    "answer": "Your answer, in one sentence",
    "why": "Why",
    "stance": "Where you stand",
    "vote": "Your vote",
    "confidence": "How sure you are, from 0 (not at all) to 1 (entirely)",
    "summary": "Your point, in one sentence",
    "body": "Your reasons",
    "reasoning": "Your reasons",
    "evidence": "What it rests on: files, addresses (n/a: nothing)",
    "action_requested": "What you ask the others to do (n/a: nothing)",
    "motives": "What matters most to you, in a word or two each",
}
_SURE: Final = "confidence"
# Headings for quotes whose author is a word of our own.
_HEADINGS: Final = {"the question": "The question", "context": "What you should know"}


class ShellTerminal:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def is_present(self) -> bool:
        return self._shell.interactive()

    def show(self, brief: Brief) -> None:
        _say(f"\n{paint(f'{brief.agent}, you are asked.', 'bold')}")
        for quote in brief.quotes:
            place = f" ({quote.place})" if quote.place else ""
            heading = _HEADINGS.get(quote.author)
            title = heading or f"{quote.author}{place}, {quote.trust.value}"
            _say(f"\n{visible(title)}:")
            for line in quote.text.splitlines():
                _say(f"  {visible(line)}")
        for finding in brief.findings:
            _say(f"! {visible(finding.message)}")
        _say(f"\n{_TASKS.get(brief.what, brief.task)}")

    def ask(self, label: str, choices: tuple[str, ...], default: str | None) -> str:
        kind: Any = click.Choice(choices) if choices else str
        if label == _SURE:
            kind = click.FloatRange(0, 1)
        typed = click.prompt(
            _LABELS.get(label, label.replace("_", " ")),
            type=kind,
            default=default,
            show_default=bool(default),
            err=True,
        )
        return str(typed)


def _say(line: str) -> None:
    click.echo(line, err=True)
