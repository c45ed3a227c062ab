"""The contract's assertions explain themselves like those of any test file."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.store.contract", "tests.store.ledgers")
