"""The library's signatures, kept: whoever changes one does it on purpose.

`python -m tests.golden.test_library` writes the snapshot anew.
"""

from __future__ import annotations

from pathlib import Path

from tools.reference.library import signature_lines

SNAPSHOT = Path(__file__).with_name("library.txt")


def test_no_signature_has_changed_by_accident() -> None:
    kept = SNAPSHOT.read_text("utf-8").splitlines()
    now = signature_lines()
    assert now == kept, "on purpose? `python -m tests.golden.test_library`, and a changelog line"


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(signature_lines()) + "\n", "utf-8")
