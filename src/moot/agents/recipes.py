"""How to call coding agents without a terminal.

The first words of a command choose its recipe. Any other program gets the JSON brief on standard
input, or the prompt in place of `{prompt}`. Agents are asked only for text. Their own settings
decide what they may change, and their hooks stay on.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from moot.agents.brief import Brief, as_json, as_prompt
from moot.agents.cost import Cost, cost_of_call
from moot.coding_tools import all_tools
from moot.coding_tools.tool import CodingTool
from moot.core.errors import Malformed

PROMPT: Final = "{prompt}"
# Every system we know allows this many bytes in one argument.
MOST_ARGUMENT: Final = 100_000


class ProgramCall(NamedTuple):
    """The command to start, and its standard input."""

    words: tuple[str, ...]
    standard_input: bytes


class ProgramOutput(NamedTuple):
    """The agent's text in a program's output, and the cost that the program reports.

    `error` is why it failed, if the output says so.
    """

    text: bytes
    cost: Cost
    model: str | None = None
    error: str = ""


class Recipe(NamedTuple):
    """How to call one program. Its command begins with `words`; `last_words` are added at the end,
    and `added_words` too unless the command already has one of `not_if_given`."""

    words: tuple[str, str]
    last_words: tuple[str, ...] = ()
    added_words: tuple[str, ...] = ()
    not_if_given: tuple[str, ...] = ()
    read_output: Callable[[bytes], ProgramOutput] = lambda raw: ProgramOutput(raw, cost_of_call())


def read_command(text: str) -> tuple[str, ...]:
    """Split a command into words, without a shell."""
    try:
        words = tuple(shlex.split(text, posix=os.name != "nt"))
    except ValueError as error:
        raise Malformed(
            f"{text!r}: {error}", code="bad_participant", hint="close every quotation mark"
        ) from None
    if not words:
        hint = "name one, such as cmd:claude -p"
        raise Malformed("cmd: names no program", code="bad_participant", hint=hint)
    return words


def recipe_for(words: tuple[str, ...]) -> Recipe | None:
    """Return the recipe for a command, by its program and its flag or subcommand."""
    name = os.path.basename(words[0]).lower()
    command = (name.removesuffix(".exe").removesuffix(".cmd"), *words[1:])
    return next((recipe for recipe in RECIPES if _fits(command, recipe.words)), None)


def _fits(command: tuple[str, ...], wanted: tuple[str, str]) -> bool:
    """Return True for the program with its flag anywhere, or its subcommand right after it."""
    program, mode = wanted
    has_flag = mode.startswith("-") and mode in command
    return command[0] == program and (has_flag or command[1:2] == (mode,))


def call_for(words: tuple[str, ...], brief: Brief, seconds: float) -> ProgramCall:
    """Return the command and standard input for this brief."""
    if any(PROMPT in word for word in words):
        return _pass_as_argument(words, as_prompt(brief, seconds))  # AGT-032
    recipe = recipe_for(words)
    if recipe is None:
        return ProgramCall(words, as_json(brief, seconds))  # AGT-030
    is_set = any(flag in words for flag in recipe.not_if_given)
    added = () if is_set else recipe.added_words
    return ProgramCall((*words, *recipe.last_words, *added), _bytes(as_prompt(brief, seconds)))


def _pass_as_argument(words: tuple[str, ...], prompt: str) -> ProgramCall:
    if len(_bytes(prompt)) > MOST_ARGUMENT:
        raise Malformed(
            f"the prompt is longer than {MOST_ARGUMENT} bytes, the limit for an argument",
            code="prompt_too_long",
            hint="leave {prompt} out: then the program gets the brief on standard input",
        )
    prompt = prompt.replace("\0", "")
    return ProgramCall(tuple(word.replace(PROMPT, prompt) for word in words), b"")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def read_output(words: tuple[str, ...], raw: bytes) -> ProgramOutput:
    """Return the agent's text in the output; an unknown format is returned unchanged."""
    recipe = recipe_for(words)
    return recipe.read_output(raw) if recipe is not None else ProgramOutput(raw, cost_of_call())


# A bare name in `--with` means the tool without its terminal.
HEADLESS: Final = {tool.name: f"{tool.name} {tool.modes[0]}" for tool in all_tools() if tool.modes}


def _recipes() -> Iterator[Recipe]:
    """Yield the recipes of coding tools, and of others that take a prompt (AGT-033)."""
    for tool in all_tools():
        for mode in tool.modes:
            yield Recipe(
                (tool.name, mode),
                tool.last_words,
                tool.added_words,
                tool.not_if_given,
                partial(_read_tool, tool),
            )
    yield Recipe(("ollama", "run"))


def _read_tool(tool: CodingTool, raw: bytes) -> ProgramOutput:
    out = tool.read_output(raw)
    text = raw if out.text is None else _bytes(out.text)
    cost = cost_of_call(out.tokens_in, out.tokens_out, out.dollars)
    return ProgramOutput(text, cost, out.model, out.error)


RECIPES: Final = tuple(_recipes())
