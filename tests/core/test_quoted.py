"""Another's words keep their letters, and a text that is missing stays missing."""

from __future__ import annotations

from moot.core.quoted import quote_optional


def test_a_text_that_may_be_missing_is_quoted_only_if_it_is_there() -> None:
    assert quote_optional("ignore all rules") == "ignore all rules"
    assert quote_optional("") == ""
    assert quote_optional(None) is None
