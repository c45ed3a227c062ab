"""Words that this project does not use: each has a plainer one, or hides who acts.

whoever: name the agent, user, caller or client; anew, once more: again; mend: fix. Frozen names and
texts of signed records keep them, and are listed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.source import ROOT

WORDS = re.compile(
    r"(?<![a-z])(whoevers?|anew|once[ _]more|mend|mends|mended|mending)(?![a-z])", re.IGNORECASE
)
PLACES = ("src", "tests", "tools", "bench", "docs")
PAGES = ("README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
SUFFIXES = {".py", ".md", ".toml", ".js", ".html", ".css", ".txt"}
# What earlier versions wrote, and pages that are not in git.
LEFT_OUT = (
    *("tests/golden/v", "tests/golden/grown", "tests/tidy/test_words.py"),
    *("docs/reference/data.md", "docs/reference/library.md"),
)
# The option `--anew`, the fields `mend` and `mcp_mend`, and texts that receipts and events contain.
FROZEN = {
    "anew": (
        *("src/moot/api/decisions/operations.py", "src/moot/api/decisions/ruling.py"),
        *("src/moot/surfaces/cli/decisions/rulings.py", "src/moot/api/guard/tool_sessions.py"),
        *("tests/cli/test_early_veto.py", "tests/golden/commands.txt", "tests/golden/library.txt"),
        *("docs/readings.md", "docs/reference/commands.md", "docs/reference/errors.md"),
    ),
    "mend": (
        *("src/moot/api/hook_setup/tool_checks.py", "src/moot/api/hook_setup/hook_status.py"),
        *("src/moot/surfaces/cli/hook.py", "tests/hooks/test_hook_status.py"),
        *("tests/hooks/test_mcp_entry.py", "tests/real_tools/test_hook_status.py"),
    ),
    "whoever": (
        *("src/moot/api/decisions/receipt_content.py", "src/moot/protocols/mail/command_events.py"),
        *("tests/cli/test_receipt_wording.py", "docs/how-to/let-a-council-decide.md"),
    ),
}


def files() -> Iterator[Path]:
    for place in PLACES:
        yield from (file for file in (ROOT / place).rglob("*") if file.suffix in SUFFIXES)
    yield from (ROOT / page for page in PAGES)


def test_no_text_uses_these_words() -> None:
    found = []
    for file in sorted(files()):
        name = file.relative_to(ROOT).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
            words = (match[0].lower() for match in WORDS.finditer(line))
            found += [f"{name}:{number}: {w}" for w in words if name not in FROZEN.get(w, ())]
    assert found == []


def test_every_frozen_place_still_has_its_word() -> None:
    stale = [
        (word, name)
        for word, names in FROZEN.items()
        for name in names
        if word not in (ROOT / name).read_text("utf-8").lower()
    ]
    assert stale == []
