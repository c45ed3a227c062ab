"""The version of this program. It is in core because every package may import core."""

from __future__ import annotations

VERSION = "0.2.0"
