"""May a shell command's text be destructive at all? One search, before anything else is loaded."""

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
_WITH_OPTION: Final = (
    r"(?:g?sed|perl|ruby|clang-format)\b.*\s-\S*i|\bsort\b.*\s-\S*o|(?:curl|wget)\b.*\s-+[oO]"
    r"|(?:prettier|gofmt)\b.*\s-+w"
    r"|(?:python|pypy|node|bun|deno|perl|ruby|php|Rscript)[\w.]*\b.*(?:\s-+\w*[cerE]|<<)"
    r"|(?:ba|z|da|k|a)?sh\b.*(?:\s-\w*c|<<)|\|\s*(?:ba|z|da|k|a)?sh\b"
)
_MAY_DESTROY: Final = re.compile(
    rf"{_REDIRECT}|(?<![\w.-])(?:{_PROGRAMS})(?![\w.])|\b(?:{_WITH_OPTION})|-(?:delete|exec)",
    re.DOTALL,
)


def may_destroy(text: str) -> bool:
    """False for most commands: then nothing is opened or asked."""
    return _MAY_DESTROY.search(text) is not None
