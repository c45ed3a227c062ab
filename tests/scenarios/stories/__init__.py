"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import artifacts, guard, ledger

__all__ = ["artifacts", "guard", "ledger"]
