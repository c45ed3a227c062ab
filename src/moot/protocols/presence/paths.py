"""The one way scopes are read and compared (section 5). No other code compares paths.

    1  resolve against the root, lexically: `.` and `..` collapse, symlinks are not followed
    2  separators become `/`
    3  under Windows rules the text that is compared is lower case; what is shown keeps its case
    4  no trailing slash, except at a root

A final `/*` means the folder itself; `*` alone is the root; any other `*` or `?` is refused.
Brackets and braces are letters: `app/[id]/page.tsx` is a file, and folders are really named so.
Windows rules hold when the root looks like `C:/...` or `\\\\server\\share`, on any host.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import Final

import msgspec

from moot.core.errors import Malformed
from moot.core.findings import Finding, Severity
from moot.protocols.presence.model import Kind

MAX_SCOPE_CHARACTERS: Final = 1_024
_WINDOWS_ROOT: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Scope(msgspec.Struct, frozen=True):
    """A scope inside the project: `key` is compared, `shown` is read. The root's key is empty."""

    key: str
    shown: str


class Comparison(msgspec.Struct, frozen=True):
    """Two scopes and how they lie to each other; `a` and `b` are absolute."""

    kind: Kind
    a: str
    b: str


def windows_rules(root: str) -> bool:
    """B-10: the root decides, so that one host can test the rules of the other."""
    return _WINDOWS_ROOT.match(root) is not None


def resolve(path: str, root: str) -> str:
    """Steps 1, 2 and 4: absolute, with `/`, case kept. The base is the root, not the cwd (B-11)."""
    if windows_rules(root):
        return ntpath.normpath(ntpath.join(root, path)).replace("\\", "/")
    full = posixpath.normpath(posixpath.join(root, path))
    return full[1:] if full.startswith("//") else full


def comparable(resolved: str, root: str) -> str:
    """Step 3."""
    return resolved.lower() if windows_rules(root) else resolved


def classify(a: str, b: str) -> Kind:
    """Exact, partial or disjoint, of two comparable texts of the same root."""
    if a == b:
        return Kind.EXACT
    return Kind.PARTIAL if inside(a, b) or inside(b, a) else Kind.DISJOINT


def inside(inner: str, outer: str) -> bool:
    """Is `inner` truly below `outer`? Whole segments: `src/library` is not in `src/lib`."""
    prefix = outer if not outer or outer.endswith("/") else f"{outer}/"
    return inner != outer and inner.startswith(prefix)


def compare(a: str, b: str, root: str) -> Comparison:
    """Classify two scopes as typed, inside the project or not. Malformed if one is no scope."""
    first, second = (resolve(_read(text, root)[0], root) for text in (a, b))
    return Comparison(classify(comparable(first, root), comparable(second, root)), first, second)


def read_scope(text: str, root: str) -> Scope:
    """A scope as a person types it; Malformed says what is wrong, with a stable code."""
    path, wildcard = _read(text, root)
    return _within(path, root, text, wildcard)


def without_wildcard(text: str, root: str) -> str:
    """The path that a scope names; Malformed if it is none."""
    return _read(text, root)[0]


def read_path(text: str, root: str) -> Scope:
    """One real file or folder, named literally: its `*` is a letter."""
    check_text(text)
    return _within(text, root, text, wildcard=False)


def absolute_root(root: str) -> str:
    """`root` with `/`, case kept (B-37); Malformed if it is not absolute."""
    flavour = ntpath if windows_rules(root) else posixpath
    if not flavour.isabs(root) or _CONTROL.search(root):
        raise Malformed(f"{root!r} is not an absolute folder", code="bad_root")
    return resolve("", root)


def symlink_remark(text: str, real: str, root: str) -> Finding | None:
    """B-12: links are not followed; whoever may look at the disk says where one really leads."""
    scope = read_scope(text, root)
    if comparable(resolve(scope.key, root), root) == comparable(resolve(real, root), root):
        return None
    return Finding(
        rule="B-12",
        code="symlink",
        severity=Severity.WARNING,
        message=f"{scope.shown} really is {resolve(real, root)}; the names are compared",
        where=text,
        hint="reserve the real place too",
    )


def _read(text: str, root: str) -> tuple[str, bool]:
    """The path without its wildcard, and whether there was one (B-13)."""
    check_text(text)
    wildcard = re.search(r"(^|[\\/])\*\Z" if windows_rules(root) else r"(^|/)\*\Z", text)
    path = text[: wildcard.end() - 1] or "." if wildcard else text
    if "*" in path or "?" in path:
        raise Malformed(
            f"{text!r}: only a final /* is understood",
            code="unsupported_glob",
            hint="reserve the folder (src/*) or name each file",
        )
    return path, wildcard is not None


def check_text(text: str) -> None:
    """Malformed if no scope can be written so, whatever it may mean."""
    if not text.strip():
        raise Malformed("a scope may not be empty", code="scope_empty", hint="`.` is the root")
    if len(text) > MAX_SCOPE_CHARACTERS or _CONTROL.search(text):
        raise Malformed(
            "not a path that can be kept",
            code="bad_scope",
            hint=f"at most {MAX_SCOPE_CHARACTERS} characters in UTF-8, none a control character",
        )


def _within(path: str, root: str, text: str, wildcard: bool) -> Scope:
    """Relative to the root, so that two worktrees speak of the same file (B-14)."""
    top, full = absolute_root(root), resolve(path, root)
    key, top_key = comparable(full, root), comparable(top, root)
    if key != top_key and not inside(key, top_key):
        raise Malformed(
            f"{text!r} lies outside of {top}", code="scope_outside", hint="stay in the project"
        )
    # Counted in segments: lower case may be longer than the text it came from.
    depth = len([part for part in top.split("/") if part])
    below = [part for part in key.split("/") if part][depth:]
    shown = [part for part in full.split("/") if part][depth:]
    named = "/".join([*shown, "*"]) if wildcard else "/".join(shown) or "."
    return Scope("/".join(below), named)
