"""Projects and cheap locks, as the command line's own tests have them."""

from tests.cli.conftest import bare, cheap_locks, passphrase, project

__all__ = ["bare", "cheap_locks", "passphrase", "project"]
