"""Docstrings as help texts, without loading `inspect`: that takes as long as half of click."""

from __future__ import annotations


def clean_docstring(text: str) -> str:
    """Without the indentation that the lines after the first share; as `inspect.cleandoc` does."""
    first, *rest = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in rest)]).strip("\n")
