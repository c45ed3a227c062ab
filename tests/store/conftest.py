"""The contract's assertions explain themselves like those of any test file; a quick folder."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

for name in ("tests.store.contract", "tests.store.ledgers"):
    if name not in sys.modules:  # another folder's tests may have come first
        pytest.register_assert_rewrite(name)


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """In memory where there is such a place: thousands of files are read back."""
    shared = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield Path(folder)
