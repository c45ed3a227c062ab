"""How the usual coding agents are asked without a terminal, as their modules say.

A recipe is chosen by the first words of a command; any other program gets the JSON brief on its
standard input, or the prompt where the command says `{prompt}`. Agents are asked for words only.
What a tool may touch is decided by its own settings, and its hooks stay on.
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
# One argument may hold this much on every system we know.
MOST_ARGUMENT: Final = 100_000


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
HEADLESS: Final = {tool.name: f"{tool.name} {tool.modes[0]}" for tool in all_tools() if tool.modes}


def _recipes() -> Iterator[Recipe]:
    """The coding tools, and who else is asked by a prompt (AGT-033)."""
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
