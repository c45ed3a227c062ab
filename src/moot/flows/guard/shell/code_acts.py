"""Code that is given to an interpreter with its command: `python -c`, `node -e`, a heredoc.

Such code is not understood. If it looks as if it wrote, all that it names counts; a git command in
it is read like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moot.flows.guard.shell.act import DestructiveAct, Reach
from moot.flows.guard.shell.git_acts import git_acts
from moot.flows.guard.shell.script import SimpleCommand
from moot.flows.guard.shell.values import Word

# Which option is followed by code.
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
}
_VERSIONED: Final = re.compile(r"(python|perl|ruby|php)[\d.]+")
_WRITES: Final = re.compile(
    r"write|unlink|remove|rmtree|rename|replace\(|truncate|rmSync|rmdir|move\(|copy|delete"
    r"|['\"][wax]b?\+?['\"]|['\"]r\+b?['\"]|>\s*['\"\w./]|system|popen|subprocess|exec|save|dump"
)
_REMOVES_FOLDERS: Final = re.compile(r"rmtree|rmSync|removeSync|rm_rf|remove_dir")
_QUOTED: Final = re.compile(r"""(['"])([^'"\n]{1,300})\1""")
_MOST_CODE: Final = 200_000
_MOST_NAMED: Final = 200


def code_acts(name: str, command: SimpleCommand) -> Iterator[DestructiveAct]:
    """What the code of an interpreter's command names, if it seems to write."""
    code = _code_of(name, command)[:_MOST_CODE]
    if not code or not _WRITES.search(code):
        return
    texts = dict.fromkeys(found[2] for found in _QUOTED.finditer(code))
    also_folders = _REMOVES_FOLDERS.search(code) is not None
    paths = tuple(Word(text) for text in texts if also_folders or _may_be_a_path(text))
    if paths:
        yield DestructiveAct(
            f"code for {name}",
            Reach.WRITTEN,
            command.folder,
            paths[:_MOST_NAMED],
            also_folders=also_folders,
            is_understood=False,
        )
    for line in code.splitlines() if "git" in code else ():
        _before, git, rest = re.sub(r"""['"\[\](),]""", " ", line).partition("git ")
        if git:
            words = tuple(Word(text) for text in rest.split())
            for act in git_acts(words, command.folder):
                yield act._replace(is_understood=False)


def is_interpreter(name: str) -> bool:
    return name in INTERPRETERS or _VERSIONED.fullmatch(name) is not None


def _code_of(name: str, command: SimpleCommand) -> str:
    letter = INTERPRETERS.get(name.rstrip("0123456789."), INTERPRETERS.get(name, "c"))
    texts = [
        redirect.body or redirect.target.text
        for redirect in command.redirects
        if redirect.operator in ("<<", "<<-", "<<<")
    ]
    words = command.words
    for place, word in enumerate(words[1:-1], 1):
        is_code = bool(letter) and re.fullmatch(rf"-\w*{letter}", word.text) is not None
        if is_code or word.text in ("--eval", "eval", "-E", "-pe", "-ne"):
            texts.append(words[place + 1].text)
    return "\n".join(texts)


def _may_be_a_path(text: str) -> bool:
    """A name with a dot or a slash in it, without blanks at its ends or line breaks."""
    is_text = " " in text and "/" not in text
    return bool(re.search(r"[./]", text.strip("."))) and not is_text
