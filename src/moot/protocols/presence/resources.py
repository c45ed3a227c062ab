"""Named resources: `port:3000`, `db:test`, `task:T-9`, `gpu:0`; things that are not files (P-09).

One agent at a time holds one. It overlaps only itself: never a path, not even the whole project,
and no other resource, however their names begin. A kind has two letters or more, so that `C:/`
stays a path, and its case does not matter; the rest is compared as it is written.

Its key is its name. A file that is named like a resource has a key that begins with `./`, and is
typed so too.
"""

from __future__ import annotations

import re
from typing import Final

from moot.core.errors import Malformed

TASK: Final = "task"
_KIND: Final = r"[A-Za-z][A-Za-z0-9_-]+:"


def is_resource(text: str) -> bool:
    """True if this text, or this key of a reservation, names a resource and not a path."""
    return ":" in text and re.match(_KIND, text) is not None


def key_of_file(path: str) -> str:
    """The key of a file that is named from the root, as git names it."""
    return f"./{path}" if is_resource(path) else path


def read_resource(text: str) -> str:
    """The name that is compared and shown; Malformed if it could be taken for another."""
    kind, _, name = text.partition(":")
    if not name or name != name.strip():
        raise Malformed(
            f"{text!r} names no {kind.lower()}",
            code="bad_resource",
            hint=f"a resource is written like port:3000; a file of this name is ./{text.strip()}",
        )
    if "*" in name or "?" in name:
        raise Malformed(
            f"{text!r}: a resource is named in full",
            code="unsupported_glob",
            hint="name each resource by itself",
        )
    return f"{kind.lower()}:{name}"


def task_resource(work: str) -> str:
    """The resource that stands for a work item: whoever holds it works on it alone."""
    return read_resource(f"{TASK}:{work}")
