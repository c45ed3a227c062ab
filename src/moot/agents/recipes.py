"""How the usual coding agents are asked without a terminal, and where their answer stands.

A recipe is chosen by the first words of a command; any other program gets the JSON brief on its
standard input, or the prompt where the command says `{prompt}`. Agents are asked for words only.
What a tool may touch is decided by its own settings, and its hooks stay on.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from moot.agents.brief import Brief, as_json, as_prompt
from moot.agents.cost import Cost, call
from moot.core.errors import Malformed

PROMPT: Final = "{prompt}"
# One argument may hold this much on every system we know.
MOST_ARGUMENT: Final = 100_000
_READ_INPUT: Final = "Do what the text on standard input asks."


class Call(NamedTuple):
    """The command to start, and its standard input."""

    words: tuple[str, ...]
    given: bytes


class Heard(NamedTuple):
    """The agent's own words out of a program's output, with the cost that the program reports."""

    text: bytes
    cost: Cost
    model: str | None = None


class Recipe(NamedTuple):
    """How one program is asked. `words` are how its command begins; `then` is added at the end, and
    `more` too unless the command already has one of `unless`. `hear` reads the output."""

    words: tuple[str, str]
    then: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    hear: Callable[[bytes], Heard] = lambda raw: Heard(raw, call())


def read_command(text: str) -> tuple[str, ...]:
    """A command as typed, in words; no shell is involved."""
    try:
        words = tuple(shlex.split(text, posix=os.name != "nt"))
    except ValueError as error:
        raise Malformed(
            f"{text!r}: {error}", code="bad_participant", hint="close every quotation mark"
        ) from None
    if not words:
        raise Malformed("cmd: names no program", code="bad_participant", hint="cmd:claude -p")
    return words


def recipe_for(words: tuple[str, ...]) -> Recipe | None:
    """By the program's name and what follows it."""
    name = os.path.basename(words[0]).lower()
    name = name.removesuffix(".exe").removesuffix(".cmd")
    known = (name, *words[1:])
    return next((one for one in RECIPES if _begins(known, one.words)), None)


def _begins(words: tuple[str, ...], wanted: tuple[str, str]) -> bool:
    """The program first; its flag anywhere, its subcommand right behind it."""
    program, mode = wanted
    flagged = mode.startswith("-") and mode in words
    return words[0] == program and (flagged or words[1:2] == (mode,))


def call_for(words: tuple[str, ...], brief: Brief, seconds: float) -> Call:
    """What to start for this brief."""
    if any(PROMPT in word for word in words):
        return _by_argument(words, as_prompt(brief, seconds))
    recipe = recipe_for(words)
    if recipe is None:
        return Call(words, as_json(brief, seconds))
    chosen = any(flag in words for flag in recipe.unless)
    more = () if chosen else recipe.more
    return Call((*words, *recipe.then, *more), _bytes(as_prompt(brief, seconds)))


def _by_argument(words: tuple[str, ...], prompt: str) -> Call:
    if len(_bytes(prompt)) > MOST_ARGUMENT:
        raise Malformed(
            f"the prompt is longer than the {MOST_ARGUMENT} bytes an argument may hold",
            code="prompt_too_long",
            hint="leave {prompt} away: the program then gets the brief on standard input",
        )
    prompt = prompt.replace("\0", "")
    return Call(tuple(word.replace(PROMPT, prompt) for word in words), b"")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def hear(words: tuple[str, ...], raw: bytes) -> Heard:
    """The agent's words out of the output; output of an unknown shape is taken as it is."""
    recipe = recipe_for(words)
    return recipe.hear(raw) if recipe is not None else Heard(raw, call())


# What each of them prints -------------------------------------------------------------------------


def _json(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _claude(raw: bytes) -> Heard:
    """`--output-format json`: one object with `result`, `usage` and `total_cost_usd`."""
    said = _json(raw)
    if not isinstance(said.get("result"), str):
        return Heard(raw, call())
    usage = _dict(said.get("usage"))
    read = sum(
        one
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        if isinstance(one := usage.get(name), int)
    )
    cost = call(read, usage.get("output_tokens"), said.get("total_cost_usd"))
    return Heard(_bytes(said["result"]), cost, next(iter(_dict(said.get("modelUsage"))), None))


def _codex(raw: bytes) -> Heard:
    """`--json`: one event a line; the last agent message is the answer."""
    text, cost = None, call()
    for event in _events(raw):
        item, usage = _dict(event.get("item")), _dict(event.get("usage"))
        if item.get("type") == "agent_message" and isinstance(item.get("text"), str):
            text = item["text"]
        if usage:
            cost = call(usage.get("input_tokens"), usage.get("output_tokens"))
    return Heard(raw if text is None else _bytes(text), cost)


def _gemini(raw: bytes) -> Heard:
    """`-o json`: one object with `response` and, by model, `stats`."""
    said = _json(raw[raw.find(b"{") :] if b"{" in raw else raw)
    if not isinstance(said.get("response"), str):
        return Heard(raw, call())
    models = _dict(_dict(said.get("stats")).get("models"))
    tokens = [_dict(_dict(one).get("tokens")) for one in models.values()]
    read = sum(one for some in tokens if isinstance(one := some.get("prompt"), int))
    wrote = sum(one for some in tokens if isinstance(one := some.get("candidates"), int))
    return Heard(_bytes(said["response"]), call(read, wrote), next(iter(models), None))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _events(raw: bytes) -> Iterator[dict[str, Any]]:
    lines: Iterable[bytes] = raw.splitlines()
    return (_json(line) for line in lines if line.startswith(b"{"))


RECIPES: Final = (
    Recipe(
        ("claude", "-p"),
        more=("--output-format", "json"),
        unless=("--output-format",),
        hear=_claude,
    ),
    Recipe(
        ("claude", "--print"),
        more=("--output-format", "json"),
        unless=("--output-format",),
        hear=_claude,
    ),
    Recipe(
        ("codex", "exec"),
        then=("-",),
        more=("--skip-git-repo-check", "--json"),
        unless=("--json",),
        hear=_codex,
    ),
    Recipe(
        ("gemini", "-p"),
        then=(_READ_INPUT,),
        more=("-o", "json"),
        unless=("-o", "--output-format"),
        hear=_gemini,
    ),
    Recipe(("opencode", "run"), then=(_READ_INPUT,)),
    Recipe(("ollama", "run")),
)
