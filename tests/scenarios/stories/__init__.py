"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import artifacts, bridges, decisions, ledger

__all__ = ["artifacts", "bridges", "decisions", "ledger"]
