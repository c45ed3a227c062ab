"""The one way scopes are read and compared (OPR-034). No other code compares paths (OPR-099).

    1  resolve against the root, lexically: `.` and `..` collapse, symlinks are not followed
    2  separators become `/`
    3  under Windows rules the text that is compared is lower case; what is shown keeps its case
    4  no trailing slash, except at a root

A final `/*` means the folder itself; `*` alone is the root; any other `*` or `?` is refused.
Brackets and braces are plain characters, because folders have such names: `app/[id]/page.tsx`.
A text like `port:3000` is no path but a named resource (`model.py`), unless `./` precedes it.
Windows rules hold when the root looks like `C:/...` or `\\\\server\\share`, on any host.

Records and the library have scopes in this form. On the command line of `moot` they are typed as
for git (B-11): `read_typed` reads what was typed, `write_typed` does the reverse.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import Final

import msgspec

from moot.core.errors import Malformed
from moot.core.findings import Finding, Severity
from moot.core.text import quote_name
from moot.protocols.presence.model import Kind, is_resource, read_resource

MAX_SCOPE_CHARACTERS: Final = 1_024
FROM_ROOT: Final = ":/"  # typed on a command line before a path that starts at the root, as in git
_WINDOWS_ROOT: Final = r"[A-Za-z]:[\\/]|\\\\"
_OTHER_MAGIC: Final = (":(", ":!", ":^")
_CONTROL: Final = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"


class Scope(msgspec.Struct, frozen=True):
    """A scope inside the project, or a named resource: `key` is compared, `shown` is read.

    The root's key is empty.
    """

    key: str
    shown: str


class Comparison(msgspec.Struct, frozen=True):
    """Two scopes and how they relate to each other; `a` and `b` are absolute, or resources."""

    kind: Kind
    a: str
    b: str


def has_windows_root(root: str) -> bool:
    """True if the root looks like a Windows path (B-10), whatever host this runs on."""
    return re.match(_WINDOWS_ROOT, root) is not None


def resolve_path(path: str, root: str) -> str:
    """Do steps 1, 2 and 4: absolute, with `/`, case kept (OPR-035, OPR-036, OPR-038).

    Relative paths start at the root, not at the current folder (B-11), so that all agents agree.
    """
    if has_windows_root(root):
        return ntpath.normpath(ntpath.join(root, path)).replace("\\", "/")
    full = posixpath.normpath(posixpath.join(root, path))
    return full[1:] if full.startswith("//") else full


def fold_case(resolved: str, root: str) -> str:
    """Do step 3: ignore case under Windows rules and nowhere else (OPR-037)."""
    return resolved.lower() if has_windows_root(root) else resolved


def classify_overlap(a: str, b: str) -> Kind:
    """Classify two comparable texts of the same root: exact, partial or disjoint.

    Symmetric and total (OPR-048). The examples of the document: `src/lib` and `src/lib/parser.ts`
    are partial (OPR-044, OPR-045), a file and itself exact (OPR-046), `src/lib` and
    `src/components` disjoint (OPR-047).
    """
    if a == b:
        return Kind.EXACT  # OPR-039
    if is_inside(a, b) or is_inside(b, a):
        return Kind.PARTIAL  # OPR-040
    return Kind.DISJOINT  # OPR-041


def is_inside(inner: str, outer: str) -> bool:
    """True if `inner` is below `outer`. Whole segments count: `src/library` is not in `src/lib`.

    A resource is below nothing, not even the root (P-09).
    """
    if is_resource(inner):
        return False
    prefix = outer if not outer or outer.endswith("/") else f"{outer}/"
    return inner != outer and inner.startswith(prefix)


def compare_scopes(a: str, b: str, root: str) -> Comparison:
    """Classify two scopes as typed, inside the project or not. Malformed if one is no scope."""
    first, second = (_resolve_scope(text, root) for text in (a, b))
    return Comparison(
        classify_overlap(_comparable(first, root), _comparable(second, root)), first, second
    )


def _resolve_scope(text: str, root: str) -> str:
    if is_resource(text):
        return read_scope(text, root).shown
    return resolve_path(_split_wildcard(text, root)[0], root)


def _comparable(resolved: str, root: str) -> str:
    return resolved if is_resource(resolved) else fold_case(resolved, root)


def read_scope(text: str, root: str) -> Scope:
    """Read a scope as a person types it; Malformed says what is wrong, with a stable code."""
    if is_resource(text):
        require_scope_text(text)
        name = read_resource(text)
        return Scope(name, name)
    path, wildcard = _split_wildcard(text, root)
    return _scope_inside(path, root, text, wildcard)


def strip_wildcard(text: str, root: str) -> str:
    """Return the path that a scope names; Malformed if it is none."""
    return _split_wildcard(text, root)[0]


def read_path(text: str, root: str) -> Scope:
    """Read the literal name of a file or folder: `*` is a plain character, and no resource."""
    require_scope_text(text)
    return _scope_inside(text, root, text, wildcard=False)


def read_typed(text: str, folder: str, root: str) -> str:
    """Return the scope for `text`, as typed in the current folder `folder`.

    `x` is in the current folder, `:/x` at the root, `*` is the current folder with all in it; a
    resource is the same everywhere. A path outside of the root is returned absolute, for the caller
    to refuse.
    """
    if not text.strip() or is_resource(text):
        return text
    is_from_root = text.startswith(FROM_ROOT)
    if text == ":" or text[:2] in _OTHER_MAGIC:
        raise Malformed(
            f"{text!r}: of git's signs only `:/` is understood",
            code="bad_scope",
            hint=f":/x is x from the root; a file of this name is ./{text}",
        )
    path = text.removeprefix(FROM_ROOT).lstrip("/") if is_from_root else text
    full = resolve_path(path, root if is_from_root else folder)
    try:
        return _scope_inside(full, root, text, wildcard=False).shown
    except Malformed as error:
        if error.code != "scope_outside":
            raise
        return full


def write_typed(scope: str) -> str:
    """Write a scope so that it means the same in every folder; a shell may need quotes."""
    if is_resource(scope):
        return scope
    return FROM_ROOT + ("" if scope == "." else scope.removeprefix("./"))


def read_path_or_resource(text: str, root: str) -> Scope:
    """Read a literal path or a resource; a file that is named like one begins with `./`."""
    return read_scope(text, root) if is_resource(text) else read_path(text, root)


def require_absolute_root(root: str) -> str:
    """Return `root` with `/`, case kept (B-37); Malformed if it is not absolute."""
    flavour = ntpath if has_windows_root(root) else posixpath
    if not flavour.isabs(root) or _has_control_characters(root):
        raise Malformed(f"{root!r} is not an absolute folder", code="bad_root")
    return resolve_path("", root)


def warn_of_symlink(text: str, real: str, root: str) -> Finding | None:
    """Warn if `text` is a link: names are compared and links not followed (B-12, OPR-035).

    `real` is its target, which the caller has read: nothing here reads the disk.
    """
    scope = read_scope(text, root)
    if is_resource(scope.key):
        return None
    if fold_case(resolve_path(scope.key, root), root) == fold_case(resolve_path(real, root), root):
        return None
    return Finding(
        rule="B-12",
        code="symlink",
        severity=Severity.WARNING,
        message=f"{quote_name(scope.shown)} really is {quote_name(resolve_path(real, root))};"
        " the names are compared",
        where=text,
        hint="reserve the real place too",
    )


def _split_wildcard(text: str, root: str) -> tuple[str, bool]:
    """Return the path without its final `/*`, and whether there was one (OPR-042, B-13).

    Any other `*` or `?` is refused (OPR-043), because what it covers would depend on the disk.
    """
    require_scope_text(text)
    wildcard = re.search(r"(^|[\\/])\*\Z" if has_windows_root(root) else r"(^|/)\*\Z", text)
    path = text[: wildcard.end() - 1] or "." if wildcard else text
    if "*" in path or "?" in path:
        raise Malformed(
            f"{text!r}: only a final /* is understood",
            code="unsupported_glob",
            hint="reserve the folder (src/*) or name each file",
        )
    return path, wildcard is not None


def require_scope_text(text: str) -> None:
    """Raise Malformed if the text cannot be a scope: empty, too long, control characters."""
    if not text.strip():
        raise Malformed("a scope may not be empty", code="scope_empty", hint="`.` is the root")
    if len(text) > MAX_SCOPE_CHARACTERS or _has_control_characters(text):
        raise Malformed(
            "not a path that can be kept",
            code="bad_scope",
            hint=f"at most {MAX_SCOPE_CHARACTERS} characters in UTF-8, none a control character",
        )


def _has_control_characters(text: str) -> bool:
    """True for control characters and lone surrogates. Most paths are printable: a fast answer."""
    return not text.isprintable() and re.search(_CONTROL, text) is not None


def _scope_inside(path: str, root: str, text: str, wildcard: bool) -> Scope:
    """Return a scope relative to the root; Malformed if it is outside of it (B-14).

    Relative, so that two worktrees have the same name for the same file, and conflict on it.
    """
    top, full = require_absolute_root(root), resolve_path(path, root)
    key, top_key = fold_case(full, root), fold_case(top, root)
    if key != top_key and not is_inside(key, top_key):
        raise Malformed(
            f"{text!r} is outside of {top}", code="scope_outside", hint="stay in the project"
        )
    # Counted in segments: lower case may be longer than the text it came from.
    depth = len([part for part in top.split("/") if part])
    below = [part for part in key.split("/") if part][depth:]
    shown = [part for part in full.split("/") if part][depth:]
    if below and is_resource(below[0]):
        below, shown = [".", *below], [".", *shown]
    name = "/".join([*shown, "*"]) if wildcard else "/".join(shown) or "."
    return Scope("/".join(below), name)
