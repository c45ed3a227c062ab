"""How risky an intent is, and why the critic must agree to it.

The risk is the larger of what the executor declares and what the policy says. A command that is
not the tool it is named after is critical, and so is an unknown risk class (E-11): otherwise a
harmless name would let anything run without approval.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moot.protocols.trace.model import ApprovalReason, Consent, Intent, Proposal, Review
from moot.protocols.trace.policy import Policy, Risk, ToolRule

RISK_ORDER: Final = {risk: place for place, risk in enumerate(Risk)}
CommandWords = tuple[str, ...]


def larger_risk(first: Risk, second: Risk) -> Risk:
    return max(first, second, key=RISK_ORDER.__getitem__)


def read_declared_risk(text: str) -> Risk:
    """The risk class of this name; an unknown name counts as the highest."""
    return Risk(text) if text in RISK_ORDER else Risk.CRITICAL


@lru_cache(1024)  # the same command is intended again and again, and audited each time
def assess_risk(policy: Policy, tool: str, command: CommandWords, said: str) -> Risk:
    if not is_named_tool(policy, tool, command):
        return Risk.CRITICAL
    return larger_risk(read_declared_risk(said), risk_by_policy(policy, tool, command))


def risk_by_policy(policy: Policy, tool: str, command: CommandWords) -> Risk:
    """The highest risk among the rules that fit the tool's name or the command itself.

    T-06: a rule for `git push` also fits `git -C . push`, but such a fit only raises the risk.
    """
    plain = (_program_name(command[0]), *command[1:]) if command else ()
    fitting = [
        rule.risk
        for rule in policy.tools
        if rule.tool == tool or any(_begins_with(plain, first) for first in _first_words_of(rule))
    ]
    by_name = max(fitting, key=RISK_ORDER.__getitem__, default=policy.default_risk)
    by_words = (
        rule.risk
        for rule in policy.tools
        if any(_contains_in_order(plain, first) for first in _first_words_of(rule))
    )
    return max((by_name, *by_words), key=RISK_ORDER.__getitem__)


def is_named_tool(policy: Policy, tool: str, command: CommandWords) -> bool:
    """Is this command the named tool? A path to a program of that name is not: it may be any."""
    firsts = [
        first for rule in policy.tools if rule.tool == tool for first in _first_words_of(rule)
    ]
    bare = (_without_suffix(command[0]), *command[1:]) if command else ()
    known = firsts or [tuple(tool.split())]
    return any(_begins_with(bare, first) or _begins_with(command, first) for first in known)


def approval_reasons(
    policy: Policy, proposal: Proposal | None, tool: str, risk: Risk, replaces: Intent | None
) -> tuple[ApprovalReason, ...]:
    """Why the critic must agree; empty if nobody must (E-09, E-10, E-40)."""
    return tuple(_list_reasons(policy, proposal, tool, risk, replaces))


def _list_reasons(
    policy: Policy, proposal: Proposal | None, tool: str, risk: Risk, replaces: Intent | None
) -> Iterator[ApprovalReason]:
    if RISK_ORDER[risk] >= RISK_ORDER[policy.approval_required_from]:
        yield ApprovalReason.RISK
    if proposal is not None and proposal.review is Review.CONDITIONAL:
        yield ApprovalReason.CONDITIONAL
    if proposal is not None and tool not in proposal.tools:
        yield ApprovalReason.OUTSIDE
    if replaces is not None and replaces.consent is Consent.BLOCKED:
        yield ApprovalReason.BLOCKED


def _first_words_of(rule: ToolRule) -> tuple[CommandWords, ...]:
    return rule.commands or (tuple(rule.tool.split()),)


def _begins_with(command: CommandWords, first: CommandWords) -> bool:
    return bool(first) and command[: len(first)] == first


def _contains_in_order(command: CommandWords, first: CommandWords) -> bool:
    """The same program, then the same words in their order, with any others in between."""
    rest = iter(command[1:])
    return command[:1] == first[:1] and all(word in rest for word in first[1:])


def _program_name(program: str) -> str:
    """The program's own name: `/usr/bin/sudo`, `SUDO.EXE` and `Sudo` are sudo."""
    return _without_suffix(program.replace("\\", "/").rpartition("/")[2]).lower()


def _without_suffix(name: str) -> str:
    return name[:-4] if name.lower().endswith(".exe") else name
