"""A project and a person's passphrase, as the command line's own tests have them."""

from tests.cli.conftest import bare, passphrase, project

__all__ = ["bare", "passphrase", "project"]
