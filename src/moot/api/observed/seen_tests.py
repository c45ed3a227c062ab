"""Find out whether a shell command ran tests, and whether its exit status tells how they ended.

A table lists the usual commands by their first words; the setting `tests.command` adds more.
Nothing is run here. After `| tail` or `; echo done` the exit status is another program's, so the
result of the tests is unknown.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from moot.protocols.observed.model import SeenTests

# A program, and the first word behind it that makes it a run of tests; none: it always is one.
TEST_COMMANDS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        [
            "pytest",
            "py.test",
            "tox",
            "nox",
            "unittest",
            "jest",
            "vitest",
            "mocha",
            "phpunit",
            "rspec",
            "ctest",
            "bats",
        ],
        frozenset(),
    ),
    **dict.fromkeys(
        [
            "cargo",
            "go",
            "deno",
            "dotnet",
            "swift",
            "mix",
            "dart",
            "flutter",
            "sbt",
            "stack",
            "cabal",
            "bazel",
            "hatch",
            "rails",
        ],
        frozenset({"test", "nextest"}),
    ),
    **dict.fromkeys(["npm", "yarn", "pnpm", "bun", "composer"], frozenset({"test", "t"})),
    **dict.fromkeys(
        [
            "make",
            "gmake",
            "just",
            "task",
            "rake",
            "gradle",
            "gradlew",
            "mvn",
            "mvnw",
            "ninja",
            "meson",
        ],
        frozenset({"test", "tests", "check", "spec", "verify"}),
    ),
    "manage.py": frozenset({"test"}),
    "node": frozenset({"--test"}),
}
# Words before a program that leave it what it is; of some of them a word is theirs.
_BEFORE: Final = frozenset(
    [
        "env",
        "time",
        "timeout",
        "nice",
        "nohup",
        "command",
        "exec",
        "sudo",
        "npx",
        "bunx",
        "uvx",
        "xvfb-run",
        "stdbuf",
    ]
)
_OWN_WORD: Final = re.compile(r"-.*|[0-9.]+[smhd]?")  # an option, or `timeout 5m`'s time
_BEFORE_WITH_WORD: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(["uv", "poetry", "pipenv", "pdm", "rye", "hatch", "conda"], frozenset({"run"})),
    **dict.fromkeys(["npm", "yarn", "pnpm", "bun", "composer"], frozenset({"run", "exec", "dlx"})),
    "bundle": frozenset({"exec"}),
}
_PYTHON: Final = re.compile(r"python[0-9.]*|pypy[0-9.]*")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_EXIT_CODE: Final = re.compile(r"^[ \t]*+exit code:\s*+(-?\d+)", re.IGNORECASE | re.MULTILINE)
_JOINTS: Final = frozenset({"&&", "||", ";", "|", "|&", "&", ";;"})
_LONGEST: Final = 20_000
_MOST_WORDS: Final = 12


class _Part(NamedTuple):
    """One command of a line, and what joins it to the next; empty after the last."""

    words: list[str]
    joint: str


def find_test_result(
    command: str, ok: bool | None, response: Any, named: Sequence[str] = ()
) -> SeenTests | None:
    """Return how the tests of this command ended; None if it ran none. `named` are further commands
    that run tests, by their first words."""
    parts = _split(command[:_LONGEST])
    wanted = [pattern for text in named if (pattern := text.split())]
    places = [place for place, part in enumerate(parts) if _runs_tests(part.words, wanted)]
    if not places:
        return None
    joints = {part.joint for part in parts[places[-1] :]} - {""}
    if "pipefail" in command:
        joints -= {"|", "|&"}
    ended_well = _exit_was_zero(ok, response)
    if ended_well is None or joints - {"&&"} or (joints and not ended_well):
        return SeenTests.RAN
    return SeenTests.PASSED if ended_well else SeenTests.FAILED


def _exit_was_zero(ok: bool | None, response: Any) -> bool | None:
    """Return whether the command succeeded, as the tool reported it or wrote it into its answer."""
    if ok is not None:
        return ok
    text = response.get("llmContent") if isinstance(response, dict) else response
    found = _EXIT_CODE.search(text[:_LONGEST]) if isinstance(text, str) else None
    return None if found is None else int(found[1]) == 0


def _split(text: str) -> list[_Part]:
    """Split a line into commands; none if it cannot be parsed."""
    line = text.replace("\\\n", " ").replace("\n", " ; ")
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    parts: list[_Part] = []
    words: list[str] = []
    try:
        for token in lexer:
            if token in _JOINTS or set(token) <= {"(", ")", ";"}:
                joint = token if token in _JOINTS else ""
                if words:
                    parts.append(_Part(words, joint))
                elif parts and joint and not parts[-1].joint:  # `( ... ) && next`
                    parts[-1] = parts[-1]._replace(joint=joint)
                words = []
            else:
                words.append(token)
    except ValueError:  # a quotation without an end
        return []
    if words:
        parts.append(_Part(words, ""))
    if parts and parts[-1].joint == ";":
        parts[-1] = parts[-1]._replace(joint="")
    return parts


def _runs_tests(words: Sequence[str], named: Sequence[Sequence[str]]) -> bool:
    if any(list(words[: len(pattern)]) == list(pattern) for pattern in named):
        return True
    rest = list(words[:_MOST_WORDS])
    while rest:
        word, name = rest[0], rest[0].rsplit("/", 1)[-1]
        behind = rest[1] if len(rest) > 1 else ""
        if name in TEST_COMMANDS:
            wanted = TEST_COMMANDS[name]
            arguments = [each for each in rest[1:] if each in wanted or not each.startswith("-")]
            if not wanted or (arguments and arguments[0].split(":")[0] in wanted):
                return True
        if _ASSIGNMENT.match(word) or name in _BEFORE or _OWN_WORD.fullmatch(word):
            rest = rest[1:]
        elif behind in _BEFORE_WITH_WORD.get(name, ()):
            is_script = behind == "run" and name in TEST_COMMANDS  # `npm run test`
            rest = [name, *rest[2:]] if is_script else rest[2:]
        elif _PYTHON.fullmatch(name):
            rest = [each for each in rest[1:] if not each.startswith("-")]
        else:
            return False
    return False
