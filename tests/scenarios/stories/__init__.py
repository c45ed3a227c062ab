"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import artifacts, ledger, parliaments

__all__ = ["artifacts", "ledger", "parliaments"]
