"""The rules of a trace, one row each: the norm's id, its code, its sentence, its check.

TRC-nnn are requirements of the Agent Protocol, E-nn and T-nn the readings in docs/readings.md.
`GUARDS` hold for every event, `RULES` for one kind of it: a decision asks them before an event is
recorded, an audit asks them again of every recorded one. `WORDING_RULES` are about a command's
wording. Intents and runs are in `tool_rules.py`, claims and verifications in `claim_rules.py`.
"""

from __future__ import annotations

from typing import Any, Final

from moot.core.findings import Rule
from moot.core.machine import Event
from moot.protocols.trace import checks as breach
from moot.protocols.trace import events as did
from moot.protocols.trace.case import PermissionCase
from moot.protocols.trace.claim_rules import CLAIM_RULES
from moot.protocols.trace.shared_rules import PROPOSAL_RULE, STATUS_HINT, number_rule, text_rule
from moot.protocols.trace.tool_rules import TOOL_RULES
from moot.protocols.trace.wording_rules import WORDING_RULES

__all__ = ["GUARDS", "RULES", "WORDING_RULES"]

GUARDS: Final[tuple[Rule[PermissionCase], ...]] = (
    Rule("TRC-052", "trace_ended", "this trace has ended", breach.trace_ended,
         "begin a new one that names it: `moot trace new`"),
    Rule("TRC-062", "role_policy_violation", "no part may do this", breach.not_in_charge,
         "leave --as away, so that the workspace does it, or let a registered person do it"),
    Rule("TRC-062", "role_policy_violation", "another part may do this", breach.wrong_role,
         "`moot trace status TRACE` shows who plays which part; let NAME do it"),
    Rule("E-20", "foreign_key", "this key does not play that part here", breach.wrong_key,
         "a person records the new key: `moot trace rotate TRACE ROLE`",
         requirement=("TRC-045", "TRC-066")),
    Rule("TRC-017", "wrong_state", "not in this state", breach.wrong_state,
         "`moot trace status TRACE` shows what is next", requirement=("TRC-018", "TRC-023")),
)  # fmt: skip

RULES: Final[dict[type[Event], tuple[Rule[Any], ...]]] = {
    did.SessionInitialized: (
        text_rule("E-17", "task"),
        Rule("TRC-001", "role_missing", "planner, executor, critic and auditor, each once",
             breach.missing_role, "name one agent for each part"),
        Rule("E-17", "bad_binding", "a part is played by a named agent with its key",
             breach.bad_binding, "`moot agent list` shows names and keys", requirement="TRC-001"),
        Rule("E-03", "duties_not_separated", "one agent plays parts that must be apart",
             breach.one_agent_two_parts,
             "name another agent, or a policy with distinct_roles false for the rest",
             requirement="TRC-001"),
        Rule("E-12", "bad_policy", "the policy cannot be used", breach.unusable_policy,
             "docs/trace.md lists every key of a policy with its default"),
        Rule("E-17", "task_differs", "the task has another hash", breach.task_hash_differs,
             "let the trace work out the hash"),
        Rule("E-12", "policy_differs", "the policy has another hash", breach.policy_hash_differs,
             "let the trace work out the hash"),
    ),
    did.ProposalCreated: (
        number_rule("proposal_id", "proposal_count"),
        text_rule("TRC-027", "objective", "required_tools"),
        Rule("TRC-041", "unknown_proposal", "only a standing proposal is superseded",
             breach.supersedes_unknown_proposal, STATUS_HINT),
        Rule("E-28", "execution_running", "something runs under the old proposal",
             breach.supersedes_running, "wait until it has ended"),
        Rule("TRC-055", "fallback_not_allowed",
             "after a failed run this policy allows no further proposal",
             breach.fallback_not_allowed, "claim what was found, or let a person abort"),
        Rule("TRC-055", "unknown_intent", "a fallback names a failed intent",
             breach.fallback_for_no_failure, STATUS_HINT),
        Rule("T-03", "too_many_open", "too many proposals stand", breach.too_many_proposals,
             "supersede one of them"),
    ),
    did.ProposalReviewed: (
        PROPOSAL_RULE,
        Rule("E-37", "review_not_open", "this cannot be said of it any more",
             breach.review_not_open,
             "the planner revises it: `moot trace propose TRACE --supersedes ID ...`",
             requirement=("TRC-029", "TRC-056")),
        text_rule("TRC-028", "rationale"),
    ),
    did.SessionAborted: (text_rule("E-39", "reason", requirement="TRC-016"),),
    did.SessionFailed: (text_rule("E-22", "code", requirement="TRC-015"),),
    did.KeyRotated: (
        Rule("E-20", "role_policy_violation",
             "only the old key, a person or the workspace changes a key",
             breach.rotation_forbidden, "let a registered person do this", requirement="TRC-062"),
        Rule("E-20", "foreign_key", "the old key is another one", breach.old_key_differs,
             STATUS_HINT, requirement="TRC-066"),
        Rule("E-03", "duties_not_separated", "the new key plays a part already", breach.key_in_use,
             "every part has a key of its own", requirement="TRC-001"),
    ),
    **TOOL_RULES,
    **CLAIM_RULES,
}  # fmt: skip
