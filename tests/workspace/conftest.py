"""A person's passphrase and cheap locks, as the command line's own tests have them."""

from tests.cli.conftest import cheap_locks, passphrase

__all__ = ["cheap_locks", "passphrase"]
