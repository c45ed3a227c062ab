"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import artifacts, ledger, presence

__all__ = ["artifacts", "ledger", "presence"]
