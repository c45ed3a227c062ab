"""The rules of a plan, one row each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from moot.core.findings import Breach, Rule
from moot.core.machine import Case, Command
from moot.protocols.plan import commands as ask
from moot.protocols.plan.model import MAX_TEXT_BYTES, MAX_WORK, State, stream_of

Breaches = Iterator[Breach]
PlanCase = Case[State, ask.Amend]


def bad_work(case: PlanCase) -> Breaches:
    work = case.command.work
    named = 0 < len(work) <= MAX_WORK and work.isprintable() and " " not in work
    if not named or stream_of(work) != case.context.stream:
        yield f"{work[:60]!r} is no work item's id", "work"


def no_text(case: PlanCase) -> Breaches:
    if not case.command.text.strip():
        yield "", "text"


def long_text(case: PlanCase) -> Breaches:
    size = len(case.command.text.encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT_BYTES:
        yield f"the page has {size} bytes, the limit is {MAX_TEXT_BYTES}", "text"


def older_version(case: PlanCase) -> Breaches:
    version, newest = case.command.version, case.state.version
    if version != newest:
        who = f", by {case.state.by}" if newest else ""
        said = f"you amend version {version}; the newest is {newest}{who}"
        yield said, "version", None, {"WORK": case.command.work}


RULES: Final[dict[type[Command], tuple[Rule[Any], ...]]] = {
    ask.Amend: (
        Rule("PLN-01", "bad_work", "a plan is of one work item", bad_work,
             "such as T-7, bb-u6f.6.3, or the branch"),
        Rule("PLN-02", "text_required", "a plan says something", no_text,
             "write what is to be done, by whom, and what was agreed"),
        Rule("PLN-03", "plan_too_long", "a plan is one page", long_text,
             "shorten it: what is done may go, and tasks belong into their own list"),
        Rule("PLN-04", "plan_outdated", "only the newest version is amended", older_version,
             "read it again: `moot plan WORK`; then amend that version"),
    ),
}  # fmt: skip
