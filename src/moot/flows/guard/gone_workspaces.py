"""A workspace that was here and is gone: then nothing can be checked, and nobody must think it was.

Asked only where no workspace was found, so that it costs nothing in a project that has one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote

from moot.core.errors import Unavailable
from moot.workspace.find import FOLDER, project_root
from moot.workspace.known_places import find_known_place


def require_none_gone(folders: Iterable[str | Path], keys: Path) -> None:
    """Unavailable if this user had a workspace around one of the folders."""
    for folder in dict.fromkeys(map(os.path.realpath, folders)):
        root = find_known_place(keys, dict.fromkeys(_roots_around(Path(folder))))
        if root is not None:
            raise Unavailable(
                "workspace_gone",
                f"the workspace of {root} is gone: {root / FOLDER} was there and is not any more"
                " (`git clean -x` removes it)",
                hint="put .moot back from a backup, or begin a new record with `moot init`; if none"
                f" is wanted, a person says so: `moot ledger forget {quote(str(root))}`",
            )


def _roots_around(folder: Path) -> Iterator[Path]:
    """Where a workspace would be found from there: upward, and at the repository of a worktree."""
    yield folder
    yield from folder.parents
    yield Path(os.path.realpath(project_root(folder)))
