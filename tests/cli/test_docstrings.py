"""Help texts are cleaned as Python's own library does it."""

from __future__ import annotations

import inspect

from hypothesis import given
from hypothesis import strategies as st

from moot.surfaces.terminal.docstrings import clean_docstring

LINES = st.text(" ab\t", max_size=8)


@given(st.lists(LINES, max_size=6).map("\n".join))
def test_a_docstring_is_cleaned_as_the_library_does(text: str) -> None:
    assert clean_docstring(text) == inspect.cleandoc(text)
