"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import (
    agents,
    artifacts,
    debates,
    guard,
    joining,
    ledger,
    mail,
    parliaments,
    presence,
    scopes,
    traces,
)

__all__ = [
    "agents",
    "artifacts",
    "debates",
    "guard",
    "joining",
    "ledger",
    "mail",
    "parliaments",
    "presence",
    "scopes",
    "traces",
]
