"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import (
    agents,
    artifacts,
    bridges,
    debates,
    decisions,
    guard,
    joining,
    ledger,
    mail,
    page,
    parliaments,
    presence,
    scopes,
    setup,
    traces,
    undo,
)

__all__ = [
    "agents",
    "artifacts",
    "bridges",
    "debates",
    "decisions",
    "guard",
    "joining",
    "ledger",
    "mail",
    "page",
    "parliaments",
    "presence",
    "scopes",
    "setup",
    "traces",
    "undo",
]
