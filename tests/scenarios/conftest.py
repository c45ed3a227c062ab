"""Stories assert like tests do, so their failures are explained like a test's."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.scenarios.stories", "tests.scenarios.world")
