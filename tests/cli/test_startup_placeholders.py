"""Start-up loads libraries with placeholders for other modules, and leaves none of them behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from moot.surfaces.cli import entry
libraries = ("msgspec", "pathlib", "immutables", "click")
entry._load_libraries(libraries, getattr(entry, sys.argv[1]))
left = [name for name, module in sys.modules.items() if isinstance(module, entry._StandIn)]
assert left == [] and "typing_extensions" not in sys.modules, left

import decimal, gettext, inspect, urllib.parse, uuid, click, msgspec
assert inspect.signature(click.echo).parameters and gettext.NullTranslations
assert urllib.parse.quote_from_bytes(b" ") == "%20"
made = uuid.UUID(int=7)
assert isinstance(made, uuid.UUID) and made.hex.endswith("7")
assert msgspec.json.schema(int) == {"type": "integer"}
assert decimal.Decimal("1.5") + 1 == decimal.Decimal("2.5")
"""


@pytest.mark.parametrize("table", ["_FOR_COMMANDS", "_FOR_HOOKS"])
def test_later_imports_get_the_real_modules(table: str) -> None:
    command = [sys.executable, "-c", SCRIPT, table]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
