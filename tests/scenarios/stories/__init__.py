"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import artifacts, ledger, mail, presence, traces

__all__ = ["artifacts", "ledger", "mail", "presence", "traces"]
