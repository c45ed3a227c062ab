"""What asking costs: tokens, money and time, as integers that a ledger can store.

Money is counted in millionths of a US dollar. A call with an unknown price counts as `unpriced`,
never as free.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec

MICROS: Final = 1_000_000
# The ledger's integers can store this, with room for sums.
_MOST: Final = 10**12


class Cost(msgspec.Struct, frozen=True):
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    micros: int = 0
    unpriced: int = 0
    millis: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Cost) -> Cost:
        # AGT-050
        names = self.__struct_fields__
        return Cost(*(getattr(self, name) + getattr(other, name) for name in names))


NO_COST: Final = Cost()


def cost_of_call(
    tokens_in: Any = 0, tokens_out: Any = 0, dollars: Any = None, millis: int = 0
) -> Cost:
    """Return the cost of one call as a program or provider reported it; invalid values count as
    not reported (AGT-050)."""
    micros = _micros(dollars)
    return Cost(
        calls=1,
        tokens_in=_count(tokens_in),
        tokens_out=_count(tokens_out),
        micros=micros or 0,
        unpriced=int(micros is None),
        millis=_count(millis),
    )


def _count(value: Any) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return min(max(value, 0), _MOST) if is_count else 0


def _micros(dollars: Any) -> int | None:
    if dollars is None or isinstance(dollars, bool):
        return None
    try:
        amount = Decimal(str(dollars)) * MICROS
        return min(round(amount), _MOST) if amount.is_finite() and amount >= 0 else None
    except (InvalidOperation, OverflowError):
        return None


def format_money(micros: int) -> str:
    """Return `$0.0123`: as many decimal places as needed, at least two."""
    text = f"{Decimal(micros) / MICROS:.6f}".rstrip("0")
    whole, _, rest = text.partition(".")
    return f"${whole}.{rest.ljust(2, '0')}"


def in_words(cost: Cost, *, with_time: bool = True) -> str:
    """Return `2 calls, 1,204 tokens, $0.02, 3.1 s`, or that the price is unknown (AGT-050)."""
    parts = [f"{cost.calls} call{'' if cost.calls == 1 else 's'}"]
    if cost.tokens:
        parts.append(f"{cost.tokens:,} tokens")
    if cost.micros:
        parts.append(format_money(cost.micros))
    if cost.unpriced and cost.tokens:
        parts.append("price unknown" if not cost.micros else "part of the price unknown")
    if with_time:
        parts.append(f"{cost.millis / 1_000:.1f} s")
    return ", ".join(parts)
