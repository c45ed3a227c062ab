"""Check whether a shell command only reads, before its text is parsed.

It lists programs that write no file. Every other command is parsed by `acts.py`, so a program that
is added to the tables there needs no change here.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 20_000
_READERS: Final = frozenset(
    (
        *("ls", "cat", "head", "tail", "grep", "egrep", "rg", "wc", "pwd", "cd", "echo", "printf"),
        *("true", "false", "test", "[", "stat", "file", "which", "type", "du", "df", "diff", "cmp"),
        *("cut", "tr", "jq", "nl", "id", "whoami", "basename", "dirname", "realpath", "readlink"),
        *("ps", "sleep", "sort", "uniq", "find", "sed", "git"),
    )
)
_GIT_READERS: Final = frozenset(
    ("status", "diff", "log", "show", "blame", "rev-parse", "ls-files", "describe")
)
_TO_NOWHERE: Final = re.compile(
    r"[0-9]?>>?[ \t]*+/dev/(?:null|stdout|stderr)(?![\w./-])|[0-9]?>&[0-9-](?![\w./-])"
)
_WRITING: Final = ("--output", "--ext-diff", "--textconv", "--pre=", "--compress-program")
_UNQUOTED: Final = str.maketrans("", "", "'\"\\")
_FIND_ACTS: Final = ("-delete", "-exec", "-ok", "-fprint", "-fls")


def only_reads(text: str) -> bool:
    """True if every program in the text is known to write no file; False if that is unknown."""
    if len(text) > LONGEST:
        return False
    plain = _TO_NOWHERE.sub(" ", text)
    if any(letter in plain for letter in "`$()>"):
        return False
    for joint in "&|\n":
        plain = plain.replace(joint, ";")
    commands = [words for part in plain.split(";") if (words := part.split())]
    return bool(commands) and all(map(_reads, commands))


def _reads(words: list[str]) -> bool:
    name, *rest = words
    # Unquoted as by the shell; braces may expand to options.
    options = [word for word in rest if word.translate(_UNQUOTED).startswith(("-", "{"))]
    if name not in _READERS or "--pre" in rest:
        return False
    if any(sign in word.translate(_UNQUOTED) for word in options for sign in _WRITING):
        return False
    if name == "git":
        return bool(rest) and rest[0] in _GIT_READERS
    if name == "uniq":
        return len(options) == len(rest) and not any("{" in word for word in rest)
    if name == "sort":
        return not any("o" in word or _is_quoted(word) for word in options)
    if name == "find":
        return not any(_is_quoted(word) or sign in word for word in options for sign in _FIND_ACTS)
    if name == "sed":
        lines = rest[1].strip("'\"") if len(rest) > 1 else ""
        is_printing = lines.endswith("p") and lines[:-1].replace(",", "").isdecimal()
        return is_printing and options == ["-n"] and rest[0] == "-n"
    return True


def _is_quoted(word: str) -> bool:
    return any(letter in word for letter in "'\"\\{")
