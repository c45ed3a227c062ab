"""How a person calls the programs that the demonstration runs: by name if that finds them."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

PYTHON: Final = Path(sys.executable).name
_HERE: Final = Path(sys.executable).parent


def moot() -> str:
    """What to type for `moot` in a shell of one's own."""
    if shutil.which("moot"):
        return "moot"
    if (_HERE / "moot").exists():
        return shlex.quote(str(_HERE / "moot"))
    return f"{shlex.quote(sys.executable)} -m moot"


def by_name() -> list[str]:
    """Commands after which `moot`, and the Python that has its libraries, are found by name."""
    found = [f"export PATH={shlex.quote(str(_HERE))}:$PATH"]
    if moot().endswith(" -m moot"):
        found.append(f'moot() {{ {PYTHON} -m moot "$@"; }}')
    return found
