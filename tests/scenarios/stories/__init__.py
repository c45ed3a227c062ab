"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import artifacts, debates, ledger

__all__ = ["artifacts", "debates", "ledger"]
