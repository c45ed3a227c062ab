"""Read code that a command gives to an interpreter: `python -c`, `node -e`, `awk`, a heredoc.

Python is parsed: a file counts if it is written, not if it is read. Other code is not parsed: if it
seems to write, all files that it names count. Shell commands in it are read like any others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from moot.api.guard.shell.act import DestructiveAct, Reach
from moot.api.guard.shell.file_acts import read_standard_input, unresolved
from moot.api.guard.shell.git_acts import git_acts
from moot.api.guard.shell.script import SimpleCommand
from moot.api.guard.shell.values import Word

if TYPE_CHECKING:
    from moot.api.guard.shell.python_code import PythonCode

# The option that is followed by code.
INTERPRETERS: Final[Mapping[str, str]] = {
    "python": "c",
    "python3": "c",
    "pypy3": "c",
    "node": "e",
    "nodejs": "e",
    "bun": "e",
    "deno": "",
    "perl": "e",
    "ruby": "e",
    "php": "r",
    "Rscript": "e",
    "lua": "e",
}
_VERSIONED: Final = re.compile(r"(python|pypy|perl|ruby|php|lua)[\d.]+")
_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")
AWKS: Final = frozenset({"awk", "gawk", "mawk", "nawk"})
SEDS: Final = frozenset({"sed", "gsed"})
_WRITES: Final = re.compile(
    r"write|unlink|remove|rmtree|rename|replace\(|truncate|rmSync|rmdir|move\(|copy|delete"
    r"|['\"][wax]b?\+?['\"]|['\"]r\+b?['\"]|>\s*['\"\w./]|system|popen|subprocess|exec|save|dump"
)
_REMOVES_FOLDERS: Final = re.compile(r"rmtree|rmSync|removeSync|rm_rf|remove_dir")
_QUOTED: Final = re.compile(r"""(['"])([^'"\n]{1,300})\1""")
_AWK_STRINGS: Final = re.compile(r'"[^"\n]{0,300}"')
_AWK_TARGET: Final = re.compile(r'>\s*"([^"\n]{1,300})"')
_AWK_WRITES: Final = re.compile(r'\bprintf?\b[^;}\n>]{0,300}>|\bsystem\s*\(|\|\s*""|\|&')
_SED_TARGET: Final = re.compile(r"[wW][ \t]+([^\n;}]{1,300})")
_PUNCTUATION: Final = re.compile(r"""['"\[\](),]""")
_MOST_CODE: Final = 64_000
_MOST_NAMED: Final = 200


def code_acts(name: str, command: SimpleCommand) -> Iterator[DestructiveAct]:
    """Yield what the code writes, or names if it seems to write."""
    code = _code_of(name, command)[:_MOST_CODE]
    if not code:
        return
    if _PYTHON.fullmatch(name):
        from moot.api.guard.shell.python_code import read_python

        understood = read_python(code)
        if understood is not None:
            yield from _python_acts(name, command, understood)
            return
    yield from text_acts(name, code, command.folder)


def text_acts(name: str, code: str, folder: str | None) -> Iterator[DestructiveAct]:
    """Yield the files that unparsed code names, if it seems to write."""
    if not _WRITES.search(code):
        return
    texts = dict.fromkeys(found[2] for found in _QUOTED.finditer(code))
    also_folders = _REMOVES_FOLDERS.search(code) is not None
    paths = tuple(Word(text) for text in texts if also_folders or _may_be_a_path(text))
    if paths:
        yield DestructiveAct(
            f"code for {name}",
            Reach.WRITTEN,
            folder,
            paths[:_MOST_NAMED],
            also_folders=also_folders,
            is_understood=False,
        )
    yield unresolved(f"code for {name}", folder)
    for line in code.splitlines() if "git" in code else ():
        _before, git, rest = _PUNCTUATION.sub(" ", line).partition("git ")
        if git:
            words = tuple(Word(text) for text in rest.split())
            for act in git_acts(words, folder):
                yield act._replace(is_understood=False)


def _python_acts(name: str, command: SimpleCommand, code: PythonCode) -> Iterator[DestructiveAct]:
    if code.written:
        paths = tuple(Word(text) for text in code.written[:_MOST_NAMED])
        yield DestructiveAct(
            f"code for {name}", Reach.WRITTEN, command.folder, paths, is_understood=False
        )
    if code.is_unresolved:
        yield unresolved(f"code for {name}", command.folder)
        yield from (act for act in text_acts(name, code.text, command.folder) if "git" in act.name)


def python_scripts(name: str, command: SimpleCommand) -> Iterator[str]:
    """Yield the shell commands that Python code runs."""
    if _PYTHON.fullmatch(name):
        from moot.api.guard.shell.python_code import read_python

        code = read_python(_code_of(name, command)[:_MOST_CODE])
        yield from () if code is None else code.scripts


def awk_acts(name: str, command: SimpleCommand) -> Iterator[DestructiveAct]:
    """Yield the files that an `awk` program prints to; `if ($1 > 2)` is a comparison."""
    for word in command.words[1:]:
        code = word.text[:_MOST_CODE]
        if not _AWK_WRITES.search(_AWK_STRINGS.sub('""', code)):
            continue
        targets = tuple(Word(found[1]) for found in _AWK_TARGET.finditer(code))
        if targets:
            yield DestructiveAct(f"code for {name}", Reach.WRITTEN, command.folder, targets)
        has_others = _AWK_STRINGS.sub("", _AWK_TARGET.sub("", code)).count(">") or "system" in code
        if has_others or "|" in code:
            yield unresolved(f"code for {name}", command.folder)


def sed_acts(name: str, command: SimpleCommand) -> Iterator[DestructiveAct]:
    """Yield the files that a `sed` script writes with `w`, by a search that may find too many."""
    targets = tuple(
        Word(found[1].strip())
        for word in command.words[1:]
        for found in _SED_TARGET.finditer(word.text[:_MOST_CODE])
    )
    if targets:
        yield DestructiveAct(
            name, Reach.WRITTEN, command.folder, targets[:_MOST_NAMED], is_understood=False
        )


def is_interpreter(name: str) -> bool:
    return name in INTERPRETERS or _VERSIONED.fullmatch(name) is not None


def _code_of(name: str, command: SimpleCommand) -> str:
    letter = INTERPRETERS.get(name.rstrip("0123456789."), INTERPRETERS.get(name, "c"))
    words = command.words
    texts: list[str] = []
    for place, word in enumerate(words[1:-1], 1):
        is_short = word.text.startswith("-") and word.text[1:].isalnum()
        is_code = bool(letter) and is_short and word.text.endswith(letter)
        if is_code or word.text in ("--eval", "eval", "-E", "-pe", "-ne"):
            texts.append(words[place + 1].text)
    if not texts:
        texts.append(read_standard_input(command)[1])
    return "\n".join(texts)


def _may_be_a_path(text: str) -> bool:
    """True for a name with a dot or a slash that is not prose."""
    is_text = " " in text and "/" not in text
    plain = text.strip(".")
    return ("." in plain or "/" in plain) and not is_text
