"""Find the reports of coding tools about one call of a model, and read their numbers.

Each tool's module names its reports, as observed (docs/how-to/measure-usage.md lists the versions):
in the signal `logs` by `event.name`, in `traces` by the name of a span. The rest of a document is
ignored: texts, paths and names never leave this module. An invalid number counts as not reported,
as in `agents/cost.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from moot.agents.cost import Cost, cost_of_call
from moot.coding_tools import all_tools
from moot.coding_tools.starts import CallReport

MOST_CALLS: Final = 10_000  # of one document; no coding tool sends more
_LONGEST_NUMBER: Final = 16


class ModelCall(NamedTuple):
    """One call of a model: the tool that reported it, and what it used."""

    tool: str
    cost: Cost


def read_calls(signal: str, document: Mapping[str, Any]) -> list[ModelCall]:
    """Return the calls that a document reports; none if it is not of a known tool."""
    found: list[ModelCall] = []
    for name, attributes in _REPORTS.get(signal, _nothing)(document):
        tool, report = _BY_NAME.get((signal, name), ("", None))
        if report is not None and _fits(report, attributes):
            found.append(ModelCall(tool, _cost(report, attributes)))
        if len(found) >= MOST_CALLS:
            break
    return found


def _nothing(_document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return iter(())


def _log_records(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for scope in _inside(document, "resourceLogs", "scopeLogs"):
        for record in _objects(scope, "logRecords"):
            attributes = _attributes(record)
            name = attributes.get("event.name") or record.get("eventName")
            yield (name if isinstance(name, str) else ""), attributes


def _spans(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for scope in _inside(document, "resourceSpans", "scopeSpans"):
        for span in _objects(scope, "spans"):
            name = span.get("name")
            yield (name if isinstance(name, str) else ""), _attributes(span)


def _inside(document: Mapping[str, Any], outer: str, inner: str) -> Iterator[Mapping[str, Any]]:
    for resource in _objects(document, outer):
        yield from _objects(resource, inner)


def _objects(value: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    items = value.get(name)
    return (
        (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())
    )


def _attributes(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return each attribute's plain value; None for lists and maps."""
    plain: dict[str, Any] = {}
    for pair in _objects(value, "attributes"):
        key, holder = pair.get("key"), pair.get("value")
        if isinstance(key, str) and isinstance(holder, dict):
            plain[key] = next((holder[kind] for kind in _PLAIN if kind in holder), None)
    return plain


_PLAIN: Final = ("intValue", "doubleValue", "stringValue")


def _fits(report: CallReport, attributes: Mapping[str, Any]) -> bool:
    if report.tokens_in[0] not in attributes:  # the end of a stream that named no numbers
        return False
    return all(attributes.get(name) == value for name, value in report.only.items())


def _cost(report: CallReport, attributes: Mapping[str, Any]) -> Cost:
    tokens_in = sum(_count(attributes.get(name)) for name in report.tokens_in)
    tokens_out = sum(_count(attributes.get(name)) for name in report.tokens_out)
    dollars = attributes.get(report.dollars) if report.dollars else None
    return cost_of_call(tokens_in, tokens_out, dollars)


def _count(value: Any) -> int:
    """Return a count, 0 if invalid: OTLP's JSON writes it as text, some tools as a number."""
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and value.isascii():
        return int(value) if value.isdigit() else 0
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_count else 0


_REPORTS: Final = {"logs": _log_records, "traces": _spans}
_BY_NAME: Final[Mapping[tuple[str, str], tuple[str, CallReport]]] = {
    (signal, report.name): (tool.name, report)
    for tool in all_tools()
    for signal, reports in (("logs", tool.log_reports()), ("traces", tool.span_reports()))
    for report in reports
}
