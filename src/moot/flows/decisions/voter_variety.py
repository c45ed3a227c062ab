"""How different the voters of one decision were, as far as the record knows: no number.

Voters who share a model, a provider or a key folder may err together. How much they do, only
outcomes tell (`protocols/decision/independence.py`); before there are thirty shared ones, this is
all one can say.
"""

from __future__ import annotations

from typing import Any, Final

from moot import pages as page
from moot.core.plural import plural

_NO_NUMBER: Final = (
    "Who shares one of these may err together. How much, only outcomes tell: `moot track` gives a "
    "number from 30 shared ones on."
)


def variety_block(content: dict[str, Any]) -> page.Facts:
    seats = content["participants"]
    models = [seat["model"] or ("" if not seat["scripted"] else "a script") for seat in seats]
    folders = [(seat["key"] or {}).get("custodian", "") for seat in seats]
    return page.Facts(
        (
            page.Fact("models", _distinct(models)),
            page.Fact("providers", _distinct([_provider(seat) for seat in seats])),
            page.Fact("key folders", _count(folders)),
            page.Fact("what that means", _NO_NUMBER),
        ),
        title="How many voters there really were",
    )


def _provider(seat: dict[str, Any]) -> str:
    """Who runs the model: a spec such as `llm:openai/gpt-5` says so, a program does not."""
    if seat["scripted"]:
        return "nobody"
    kind, _, rest = str(seat["what"] or "").partition(":")
    return rest.partition("?")[0].partition("/")[0] if kind == "llm" else ""


def _distinct(values: list[str]) -> str:
    """`2 known: gpt-5, a script; 1 unknown`."""
    known = list(dict.fromkeys(value for value in values if value))
    unknown = sum(not value for value in values)
    parts = [f"{len(known)} known: {', '.join(known)}"] if known else []
    parts += [f"{unknown} unknown"] if unknown else []
    return "; ".join(parts)


def _count(folders: list[str]) -> str:
    known, unknown = len({folder for folder in folders if folder}), folders.count("")
    parts = [plural(known, "folder")] if known else []
    parts += [f"{unknown} unknown"] if unknown else []
    return "; ".join(parts)
