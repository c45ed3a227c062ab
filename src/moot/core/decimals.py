"""Decimals as text: the record holds no floating-point numbers."""

from __future__ import annotations

from decimal import Decimal


def shortest_decimal(value: float) -> str:
    """As short as it can be said: 0.8, not 0.8000000000000000444."""
    return f"{Decimal(repr(value)):f}"
