"""The library's signatures: a test fails when one changes.

`python -m tests.golden.test_library` writes the snapshot again.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tools.reference.library import page, signature_lines

SNAPSHOT = Path(__file__).with_name("library.txt")


def test_no_signature_has_changed_by_accident() -> None:
    kept = SNAPSHOT.read_text("utf-8").splitlines()
    now = signature_lines()
    assert now == kept, "on purpose? `python -m tests.golden.test_library`, and a changelog line"


def test_every_signature_is_valid_python() -> None:
    """A reader may copy one from the page, and a tool may parse the snapshot."""
    shown = re.findall(r"```text\n(?:\w+\.)*(.*?)\n```", page(), re.DOTALL)
    flags = re.compile(r"^[\w.]+: |( writes)?( runs-programs)?$")
    kept = [flags.sub("", line) for line in signature_lines()]
    assert len(shown) == len(kept) + 1  # and `moot.open`
    for signature in (*shown, *kept):
        ast.parse(f"def {signature}: ...")


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(signature_lines()) + "\n", "utf-8")
