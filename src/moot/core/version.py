"""The version of this program. It stands here because everything may import the core."""

from __future__ import annotations

VERSION = "0.1.0"
