"""The stories, by subject. Importing this package registers all of them."""

from tests.scenarios.stories import artifacts

__all__ = ["artifacts"]
