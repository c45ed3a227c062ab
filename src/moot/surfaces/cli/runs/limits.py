"""The limits of a run, as options: turns, tokens, money, seconds."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.terminal.answer import Answer

if TYPE_CHECKING:
    from moot.api.runs import Limits


def _dollars(text: str) -> Decimal:
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        raise click.BadParameter(f"{text!r} is no amount such as 1.50") from None
    if not amount.is_finite() or amount < 0:
        raise click.BadParameter(f"{text!r} is no amount such as 1.50")
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
        help="A variable that cmd: programs get besides what they need; repeat it.",
    ),
)


def limit_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def limits_of(given: dict[str, Any]) -> Limits:
    from moot.api.runs import Limits

    return Limits(
        turns=given["max_turns"],
        tokens=given["max_tokens"],
        usd=given["max_usd"],
        seconds=given["max_seconds"],
        turn_seconds=float(given["turn_seconds"]),
        env=tuple(given["env"]),
    )
