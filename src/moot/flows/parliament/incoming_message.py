"""A message as somebody sends it, read and checked once for everyone who asks about it."""

from __future__ import annotations

from typing import Any

import msgspec

from moot.core.findings import Finding, select_errors
from moot.protocols.parliament.messages.message import Response, read_response, response_findings


class IncomingMessage(msgspec.Struct, frozen=True):
    """`document` is its JSON, `findings` what is wrong with its form; without errors there is a
    `response`. Whether it fits the moment is for the machine to say."""

    document: Any
    findings: tuple[Finding, ...]
    response: Response | None

    @property
    def sender(self) -> object:
        """Who it says it is from, whatever else may be wrong with it."""
        return self.document.get("from") if isinstance(self.document, dict) else None

    @property
    def kind(self) -> object:
        return self.document.get("type") if isinstance(self.document, dict) else None


def check_incoming(document: Any) -> IncomingMessage:
    findings = response_findings(document)
    return IncomingMessage(
        document, findings, None if select_errors(findings) else read_response(document)
    )
