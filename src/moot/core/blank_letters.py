"""Characters that count as letters, marks or symbols, and show nothing at all.

A name or a sentence with one of them looks like another. They are shown as what they are, on
terminals as on pages.
"""

from __future__ import annotations

from typing import Final

# Grapheme joiner, Hangul fillers, Khmer inherent vowels, the blank of Braille.
BLANK_LETTERS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
