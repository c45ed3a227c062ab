"""May a shell command's text be destructive at all, or does it only read? A search or two, before
anything else is loaded.
"""

from __future__ import annotations

import re
from typing import Final

# A redirect to a file; not `2>&1` or `>/dev/null`.
_REDIRECT: Final = r">(?!>?[ \t]*/dev/(?:null|stdout|stderr)|&[0-9-](?:[\s;|&)]|$)|>)"
_PROGRAMS: Final = (
    "rm|mv|cp|ln|dd|tee|unlink|rmdir|shred|truncate|install|rsync|sponge|trash|dos2unix"
    "|checkout|restore|reset|switch|stash|clean|worktree|commit|co|ci|read-tree|checkout-index"
    "|abort|skip|autostash|eval|delete"
)
_MAY_DESTROY: Final = re.compile(
    rf"{_REDIRECT}|(?<![\w.-])(?:{_PROGRAMS})(?![\w.])|-(?:delete|exec)|\|\s*\w*sh\b"
)
# Programs that destroy only with certain options: both are looked for, wherever they stand.
_WITH_OPTION: Final = tuple(
    (re.compile(rf"\b(?:{programs})"), re.compile(option))
    for programs, option in (
        (r"g?sed|perl|ruby|clang-format", r"-\S*i"),
        ("sort", r"-\S*o"),
        ("curl|wget", r"-[oO-]"),
        ("prettier|gofmt", r"-\S*w"),
        ("python|pypy|node|bun|deno|perl|ruby|php|Rscript", r"-\w*[cerE]|<<|eval"),
        (r"\w*sh\b", r"-\w*c|<<"),
    )
)
# Programs that write no file by themselves; a redirect and `sort -o` are found above.
_READERS: Final = (
    r"ls|cat|head|tail|e?grep|rg|wc|pwd|cd|echo|printf|true|false|test|\[|stat|file|which|type|du|df"
    r"|diff|cmp|sort|cut|tr|jq|nl|id|whoami|basename|dirname|realpath|readlink|ps|sleep|find"
    r"|sed\s+-n\s+['\"]?[\d,]+p['\"]?|uniq(?=(?:\s+-\w+)*\s*(?:[;&|\n]|$))"
    r"|git\s+(?:status|diff|log|show|blame|rev-parse|ls-files|describe)"
)
_WRITING_OPTION: Final = re.compile(r"--output|-fprint|-fls|--pre\b|--ext-diff|--textconv")
_ONLY_READS: Final = re.compile(rf"\s*(?:(?:{_READERS})(?![\w./-])[^;&|\n`$()]*(?:[;&|\n]+|$)\s*)+")


def may_destroy(text: str) -> bool:
    """False for most commands: then nothing is opened or asked."""
    return _MAY_DESTROY.search(text) is not None or any(
        program.search(text) and option.search(text) for program, option in _WITH_OPTION
    )


def only_reads(text: str) -> bool:
    """True if every program in it is known to write no file; False if that cannot be told."""
    is_known = _ONLY_READS.fullmatch(text) is not None and not _WRITING_OPTION.search(text)
    return is_known and not may_destroy(text)
