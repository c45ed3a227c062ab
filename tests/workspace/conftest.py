"""A person's passphrase, as the command line's own tests have them."""

from tests.cli.conftest import passphrase

__all__ = ["passphrase"]
