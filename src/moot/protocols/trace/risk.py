"""How risky an intent is, and why the critic must agree to it.

The class is the larger of what the executor declares and what the policy says; a command that is
not the tool it is named after is critical, and so is a class that nobody knows (E-11).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moot.protocols.trace.model import Consent, Intent, Proposal, Review, Why
from moot.protocols.trace.policy import Policy, Risk, ToolRule

ORDER: Final = {risk: place for place, risk in enumerate(Risk)}
Words = tuple[str, ...]


def larger(one: Risk, other: Risk) -> Risk:
    return max(one, other, key=ORDER.__getitem__)


def declared(text: str) -> Risk:
    """The class of this name; a name that is none is the highest."""
    return Risk(text) if text in ORDER else Risk.CRITICAL


@lru_cache(1024)  # the same command is intended again and again, and audited each time
def risk_of(policy: Policy, tool: str, command: Words, said: str) -> Risk:
    if not is_tool(policy, tool, command):
        return Risk.CRITICAL
    return larger(declared(said), by_policy(policy, tool, command))


def by_policy(policy: Policy, tool: str, command: Words) -> Risk:
    """The highest of the rules that fit the tool's name or what is really run.

    Words in between (`git -C . push`) may raise a risk, never lower it.
    """
    plain = (_plain(command[0]), *command[1:]) if command else ()
    fitting = [
        rule.risk
        for rule in policy.tools
        if rule.tool == tool or any(_begins(plain, first) for first in _firsts(rule))
    ]
    said = max(fitting, key=ORDER.__getitem__, default=policy.default_risk)
    near = (
        rule.risk for rule in policy.tools if any(_holds(plain, first) for first in _firsts(rule))
    )
    return max((said, *near), key=ORDER.__getitem__)


def is_tool(policy: Policy, tool: str, command: Words) -> bool:
    """Is this command the named tool? A path to a program of that name is not: it may be any."""
    firsts = [first for rule in policy.tools if rule.tool == tool for first in _firsts(rule)]
    bare = (_without_suffix(command[0]), *command[1:]) if command else ()
    known = firsts or [tuple(tool.split())]
    return any(_begins(bare, first) or _begins(command, first) for first in known)


def approval_reasons(
    policy: Policy, proposal: Proposal | None, tool: str, risk: Risk, replaces: Intent | None
) -> tuple[Why, ...]:
    """Why the critic must agree; empty if nobody must (E-09, E-10, E-40)."""
    return tuple(_reasons(policy, proposal, tool, risk, replaces))


def _reasons(
    policy: Policy, proposal: Proposal | None, tool: str, risk: Risk, replaces: Intent | None
) -> Iterator[Why]:
    if ORDER[risk] >= ORDER[policy.approval_required_from]:
        yield Why.RISK
    if proposal is not None and proposal.review is Review.CONDITIONAL:
        yield Why.CONDITIONAL
    if proposal is not None and tool not in proposal.tools:
        yield Why.OUTSIDE
    if replaces is not None and replaces.consent is Consent.BLOCKED:
        yield Why.BLOCKED


def _firsts(rule: ToolRule) -> tuple[Words, ...]:
    return rule.commands or (tuple(rule.tool.split()),)


def _begins(command: Words, first: Words) -> bool:
    return bool(first) and command[: len(first)] == first


def _holds(command: Words, first: Words) -> bool:
    """The same program, and then the same words in their order, whatever stands between."""
    rest = iter(command[1:])
    return command[:1] == first[:1] and all(word in rest for word in first[1:])


def _plain(program: str) -> str:
    """The program's own name: `/usr/bin/sudo`, `SUDO.EXE` and `Sudo` are sudo."""
    return _without_suffix(program.replace("\\", "/").rpartition("/")[2]).lower()


def _without_suffix(name: str) -> str:
    return name[:-4] if name.lower().endswith(".exe") else name
