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
from moot.agents.cost import Cost, cost_of_call
from moot.core.errors import Malformed

PROMPT: Final = "{prompt}"
# One argument may hold this much on every system we know.
MOST_ARGUMENT: Final = 100_000
_READ_INPUT: Final = "Do what the text on standard input asks."


class ProgramCall(NamedTuple):
    """The command to start, and its standard input."""

    words: tuple[str, ...]
    standard_input: bytes


class ProgramOutput(NamedTuple):
    """The agent's own words out of a program's output, with the cost that the program reports.

    `error` is why it failed, where the output says so.
    """

    text: bytes
    cost: Cost
    model: str | None = None
    error: str = ""


class Recipe(NamedTuple):
    """How one program is asked. `words` are how its command begins; `last_words` is added at the
    end, and `added_words` too unless the command already has one of `not_if_given`. `read_output`
    reads the output."""

    words: tuple[str, str]
    last_words: tuple[str, ...] = ()
    added_words: tuple[str, ...] = ()
    not_if_given: tuple[str, ...] = ()
    read_output: Callable[[bytes], ProgramOutput] = lambda raw: ProgramOutput(raw, cost_of_call())


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


def call_for(words: tuple[str, ...], brief: Brief, seconds: float) -> ProgramCall:
    """What to start for this brief."""
    if any(PROMPT in word for word in words):
        return _by_argument(words, as_prompt(brief, seconds))  # AGT-032
    recipe = recipe_for(words)
    if recipe is None:
        return ProgramCall(words, as_json(brief, seconds))  # AGT-030
    chosen = any(flag in words for flag in recipe.not_if_given)
    more = () if chosen else recipe.added_words
    return ProgramCall((*words, *recipe.last_words, *more), _bytes(as_prompt(brief, seconds)))


def _by_argument(words: tuple[str, ...], prompt: str) -> ProgramCall:
    if len(_bytes(prompt)) > MOST_ARGUMENT:
        raise Malformed(
            f"the prompt is longer than the {MOST_ARGUMENT} bytes an argument may hold",
            code="prompt_too_long",
            hint="leave {prompt} away: the program then gets the brief on standard input",
        )
    prompt = prompt.replace("\0", "")
    return ProgramCall(tuple(word.replace(PROMPT, prompt) for word in words), b"")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def read_output(words: tuple[str, ...], raw: bytes) -> ProgramOutput:
    """The agent's words out of the output; output of an unknown shape is taken as it is."""
    recipe = recipe_for(words)
    return recipe.read_output(raw) if recipe is not None else ProgramOutput(raw, cost_of_call())


# A bare name in `--with` means the tool without its terminal.
HEADLESS: Final = {
    "claude": "claude -p",
    "codex": "codex exec",
    "gemini": "gemini -p",
    "opencode": "opencode run",
}


# What each of them prints -------------------------------------------------------------------------


def _json(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _claude(raw: bytes) -> ProgramOutput:
    """`--output-format json`: one object with `result`, `usage` and `total_cost_usd`."""
    said = _json(raw)
    if not isinstance(said.get("result"), str):
        return ProgramOutput(raw, cost_of_call())
    usage = _dict(said.get("usage"))
    read = sum(
        one
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        if isinstance(one := usage.get(name), int)
    )
    cost = cost_of_call(read, usage.get("output_tokens"), said.get("total_cost_usd"))
    model = next(iter(_dict(said.get("modelUsage"))), None)
    error = said["result"] if said.get("is_error") is True else ""
    return ProgramOutput(_bytes(said["result"]), cost, model, error)


def _codex(raw: bytes) -> ProgramOutput:
    """`--json`: one event a line; the last agent message is the answer."""
    text, cost, error = None, cost_of_call(), ""
    for event in _events(raw):
        item, usage = _dict(event.get("item")), _dict(event.get("usage"))
        if event.get("type") == "error" and isinstance(event.get("message"), str):
            error = event["message"]
        if item.get("type") == "agent_message" and isinstance(item.get("text"), str):
            text = item["text"]
        if usage:
            cost = cost_of_call(usage.get("input_tokens"), usage.get("output_tokens"))
    return ProgramOutput(raw if text is None else _bytes(text), cost, error=error)


def _gemini(raw: bytes) -> ProgramOutput:
    """`-o json`: one object with `response` and, by model, `stats`."""
    said = _json(raw[raw.find(b"{") :] if b"{" in raw else raw)
    if not isinstance(said.get("response"), str):
        error = _dict(said.get("error")).get("message")
        return ProgramOutput(raw, cost_of_call(), error=error if isinstance(error, str) else "")
    models = _dict(_dict(said.get("stats")).get("models"))
    tokens = [_dict(_dict(one).get("tokens")) for one in models.values()]
    read = sum(one for some in tokens if isinstance(one := some.get("prompt"), int))
    wrote = sum(one for some in tokens if isinstance(one := some.get("candidates"), int))
    return ProgramOutput(
        _bytes(said["response"]), cost_of_call(read, wrote), next(iter(models), None)
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _events(raw: bytes) -> Iterator[dict[str, Any]]:
    lines: Iterable[bytes] = raw.splitlines()
    return (_json(line) for line in lines if line.startswith(b"{"))


# AGT-033
RECIPES: Final = (
    Recipe(
        ("claude", "-p"),
        added_words=("--output-format", "json"),
        not_if_given=("--output-format",),
        read_output=_claude,
    ),
    Recipe(
        ("claude", "--print"),
        added_words=("--output-format", "json"),
        not_if_given=("--output-format",),
        read_output=_claude,
    ),
    Recipe(
        ("codex", "exec"),
        last_words=("-",),
        added_words=("--skip-git-repo-check", "--json"),
        not_if_given=("--json",),
        read_output=_codex,
    ),
    Recipe(
        ("gemini", "-p"),
        last_words=(_READ_INPUT,),
        added_words=("-o", "json"),
        not_if_given=("-o", "--output-format"),
        read_output=_gemini,
    ),
    Recipe(("opencode", "run"), last_words=(_READ_INPUT,)),
    Recipe(("ollama", "run")),
)
