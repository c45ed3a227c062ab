"""Scopes spelled as the disk spells them: where it ignores case, two spellings are one scope.

Only what is there is named anew. Where the disk tells names apart, as most of Linux do, and for
what does not exist yet, a scope stays as it was written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from moot.core.errors import Malformed
from moot.protocols.presence import paths
from moot.protocols.presence.resources import is_resource, key_of_file
from moot.workspace.folded_names import spell_as_listed


def spell_scopes(scopes: Iterable[str], root: Path) -> tuple[str, ...]:
    """The scopes, named from `root`, each with the names that the disk has for it."""
    return tuple([_spell(scope, str(root)) for scope in scopes])


def _spell(scope: str, root: str) -> str:
    if is_resource(scope):
        return scope
    try:
        path = paths.strip_wildcard(scope, root)
    except Malformed:
        return scope  # which the rules refuse
    written = paths.resolve_path(path, root)
    spelled = spell_as_listed(written)
    if spelled == written:
        return scope
    name = key_of_file(os.path.relpath(spelled, spell_as_listed(root)))
    return f"{name}/*" if scope.endswith("/*") else name
