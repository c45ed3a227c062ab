"""What a code means: of an error, a finding or a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.flows.codes.explanation import CodeExplanation

if TYPE_CHECKING:
    from moot.api.session import Session

__all__ = ["CodeExplanation", "ExplainedCode", "explain"]


class ExplainedCode(msgspec.Struct, frozen=True):
    """Everything that carries the code, rules first. One code may be raised in several places."""

    code: str
    meanings: tuple[CodeExplanation, ...]


@operation("explain")
def explain(_session: Session, code: str) -> ExplainedCode:
    """What a code of an error, or the id of a rule, says, why it is so, and what to do about it.

    From the same tables as the pages errors.md and rules.md. Needs no workspace. NotFound as
    `unknown_code`, with the nearest one that exists.
    """
    from moot.flows.codes.explanation import explain_code

    return ExplainedCode(code, explain_code(code))
