"""The rules of presence, one row each: the norm's id, its code, its sentence, its check.

OPR-nnn are requirements of the Operative Protocol v1. B-nn are our readings of it, explained in
docs/readings.md; `requirement=` says which requirement such a row enforces. The checks
are in `checks.py`.
"""

from __future__ import annotations

from typing import Any

from moot.core.findings import Rule, Severity
from moot.core.machine import Command, empty
from moot.protocols.presence import checks as breach
from moot.protocols.presence import commands as ask

_READABLE: tuple[Rule[Any], ...] = (
    Rule("B-14", "scope_empty", "a scope may not be empty", breach.unreadable_scope("scope_empty"),
         "`.` is the whole project", requirement="OPR-034"),
    Rule("B-14", "scope_outside", "a scope is inside the project",
         breach.unreadable_scope("scope_outside"),
         "name a file or folder of this worktree", requirement="OPR-034"),
    Rule("OPR-043", "unsupported_glob", "only a final /* is understood",
         breach.unreadable_scope("unsupported_glob"),
         "reserve the folder (src/*) or name each file"),
    Rule("OPR-035", "bad_scope", "a scope is a readable path",
         breach.unreadable_scope("bad_scope"), "name a file or folder of the project"),
    Rule("P-09", "bad_resource", "a resource has a kind and a name",
         breach.unreadable_scope("bad_resource"),
         "write it like port:3000; a file of this name begins with ./", requirement="OPR-034"),
    Rule("OPR-054", "bad_root", "the root of a scope is absolute",
         breach.unreadable_scope("bad_root"), "run this inside the project"),
)  # fmt: skip
_SOMEONE = Rule("B-08", "not_allowed", "only an agent or a person does this",
                breach.sent_by_system, "say who you are: MOOT_AGENT, or --agent NAME",
                requirement="OPR-056")  # fmt: skip
_ROOT = Rule("OPR-054", "bad_root", "the project root is absolute", breach.relative_root,
             "run this inside the project")  # fmt: skip
_NAMED = Rule("B-14", "scope_empty", "name at least one scope", breach.no_scope_named,
              "`.` is the root", requirement="OPR-102")  # fmt: skip
_MANY = Rule("OPR-102", "too_many_scopes", "too many scopes at once", breach.too_many_scopes,
             "name a folder")  # fmt: skip
_LONG = Rule("OPR-061", "text_too_long", "the text is too long", breach.text_too_long,
             "shorten it, and name a file for the rest")  # fmt: skip
_WORK_ID = Rule("OPR-055", "bad_work", "a work id is 1 to 200 characters without spaces",
                breach.bad_work, "such as bb-u6f.6.3, or the branch")  # fmt: skip
_TTL = Rule("B-18", "bad_ttl", "not a time to live", breach.bad_ttl,
            "give 5 to 1440 minutes, or omit it", requirement="OPR-102")  # fmt: skip
_WIDE = Rule("B-17", "scope_too_wide", "too many others hold parts of it", breach.scope_too_wide,
             "reserve less", requirement="OPR-104")  # fmt: skip
_ACTIVE = Rule(
    "OPR-030",
    "reservation_conflict",
    "an active agent holds this",
    breach.owner_active,
    hint="work elsewhere, or ask the holder: `moot blocked HOLDER --work WORK --scope PATH"
    " --subject SCOPE --blocker 'it is held' --requested-action 'release it, or say when'`",
)
_SIBLING = Rule("P-14", "reservation_conflict", "a sub-agent of your own session works on this",
                breach.sibling_at_work, "work on another file, or wait until it ends",
                requirement="OPR-030")  # fmt: skip
_QUIET = Rule("B-15", "reservation_stale_found", "an agent that has gone quiet holds this",
              breach.owner_quiet, "`moot reserve PATH --takeover-stale` takes it over",
              requirement=("OPR-031", "OPR-032"))  # fmt: skip
_RESERVE: tuple[Rule[Any], ...] = (
    _SOMEONE,
    _ROOT,
    _NAMED,
    *_READABLE,
    _MANY,
    _TTL,
    _WORK_ID,
    _LONG,
    _WIDE,
    _ACTIVE,
    _SIBLING,
    _QUIET,
)
_SEND: tuple[Rule[Any], ...] = (
    Rule("B-08", "sender_required", "only an agent or a person sends this", breach.sent_by_system,
         "say who you are: MOOT_AGENT, or --agent NAME", requirement="OPR-056"),
    Rule("OPR-057", "agent_not_found", "the receiver is not known", breach.unknown_receiver,
         "`moot status` shows who is here"),
    Rule("OPR-057", "to_yourself", "the receiver is someone else", breach.receiver_is_sender,
         "name another agent: `moot status` shows who is here"),
    Rule("B-05", "work_required", "say which work this is about", breach.work_missing,
         "--work ID: your own work item, else the branch", requirement="OPR-055"),
    _WORK_ID,
    _ROOT,
    *_READABLE,
    _LONG,
    Rule("OPR-106", "too_many_pending", "too much waits for the receiver", breach.too_many_pending,
         "wait until some are accepted, or ask another agent"),
)  # fmt: skip
_KNOWN_EVENT = Rule("OPR-105", "event_not_found", "no such event waits here", breach.unknown_event,
                    "`moot event list` shows all")  # fmt: skip
_BY_MACHINE = Rule("B-18", "not_allowed", "the workspace itself does this",
                   breach.not_sent_by_system, "`moot tick` lets the workspace do it",
                   requirement="OPR-102")  # fmt: skip
_SUB_AGENT = Rule("P-14", "sub_agent_required", "say which sub-agent",
                  breach.no_sub_agent_named, "name the id that the tool gave it",
                  requirement="OPR-007")  # fmt: skip

RULES: dict[type[Command], tuple[Rule[Any], ...]] = {
    ask.Join: (
        _SOMEONE,
        Rule("OPR-015", "adoption_required", "an earlier session's name is adopted, not reused",
             breach.adoption_missing, "`moot join --adopt NAME`, or --register a new name"),
        _ROOT,
        _WORK_ID,
        _LONG,
        Rule("OPR-016", "name_style", "names are best an adjective and a noun",
             breach.unusual_name, "such as amber-otter", Severity.WARNING),
    ),
    ask.Leave: (_LONG,),
    ask.NoteUsage: (
        _SOMEONE,
        _WORK_ID,
        Rule("OPR-102", "bad_usage", "what was used is counted in whole numbers from zero on",
             breach.bad_usage, "leave it out: usage that is not recorded counts as unknown"),
    ),
    ask.Reserve: _RESERVE,
    ask.TakeOver: _RESERVE,
    ask.Release: (
        _NAMED,
        *_READABLE,
        Rule("OPR-102", "reservation_not_found", "this is not reserved", breach.scope_not_held,
             "`moot scope list` shows what is"),
        Rule("OPR-102", "release_forbidden", "only its holder may release it",
             breach.not_the_owner, "`moot scope list` shows who holds what; ask the holder"),
        Rule("P-14", "kept_for_sub_agent", "a sub-agent of yours works on it",
             breach.kept_for_sub_agent, "it ends with the sub-agent; `moot release` with its name"
             " gives it back now", Severity.WARNING, requirement="OPR-102"),
    ),
    ask.SendHandoff: (
        Rule("OPR-062", "text_missing", "subject, summary and next_action are required",
             empty("subject", "summary", "next_action"),
             "--subject, --summary and --next-action each need text"),
        *_SEND,
        Rule("B-26", "nothing_to_move", "accepting it will move no reservation",
             breach.handoff_moves_nothing, "reserve exactly this scope before it is accepted",
             Severity.WARNING, requirement="OPR-103"),
        Rule("B-26", "nothing_to_move", "no scope is named, so no reservation moves",
             breach.handoff_without_scope, "--scope PATH moves what you hold there",
             Severity.WARNING, requirement="OPR-103"),
    ),
    ask.SendBlocked: (
        Rule("OPR-064", "text_missing", "subject, blocker and requested_action are required",
             empty("subject", "blocker", "requested_action"),
             "--subject, --blocker and --requested-action each need text"),
        Rule("OPR-065", "bad_urgency", "urgency is low, medium or high", breach.bad_urgency,
             "--urgency low, medium or high"),
        *_SEND,
    ),
    ask.MarkSeen: (
        _KNOWN_EVENT,
        Rule("B-27", "not_addressed", "only its receiver marks it as seen",
             breach.seen_by_another, "`moot event list` shows what was sent to whom",
             requirement="OPR-105"),
    ),
    ask.Accept: (
        _KNOWN_EVENT,
        Rule("B-27", "ack_forbidden", "there is nothing to accept", breach.nothing_to_accept,
             "`moot event list` shows what was sent to whom", requirement="OPR-105"),
        Rule("B-27", "ack_forbidden", "only the receiver may accept", breach.not_the_receiver,
             "`moot event list` shows what was sent to whom", requirement="OPR-105"),
        Rule("B-27", "request_settled", "it no longer waits", breach.no_longer_waits,
             "nothing is left to do", Severity.WARNING, requirement="OPR-106"),
        Rule("B-26", "nothing_moved", "accepted, but no reservation moved",
             breach.accepted_but_nothing_moved, "reserve the scope yourself once it is free",
             Severity.WARNING, requirement="OPR-103"),
    ),
    ask.Resume: (
        _SOMEONE,
        _ROOT,
        *_READABLE,
        _WORK_ID,
        _LONG,
        Rule("B-06", "agent_alive", "the agent is running", breach.still_running,
             "end that `moot run` first, or register a new name", requirement="OPR-015"),
        Rule("OPR-015", "adoption_rejected", "only a new session adopts a name",
             breach.same_holder, "`moot join --adopt NAME` makes the new session"),
        Rule("OPR-011", "adoption_rejected", "nothing of that session is unfinished here",
             breach.no_reason_to_adopt,
             "name its --scope or --work, or --register NAME for a new one"),
    ),
    ask.NoteIncursion: (
        _ROOT,
        _NAMED,
        *_READABLE,
        _MANY,
        _WORK_ID,
        _LONG,
        Rule("B-30", "slipped_past", "someone else holds what was changed",
             breach.changed_despite_reservation, "tell the holder, or take your change back",
             Severity.WARNING, requirement="OPR-104"),
    ),
    ask.BeginSubAgent: (_SOMEONE, _SUB_AGENT, _LONG),
    ask.EndSubAgent: (_SOMEONE, _SUB_AGENT, _LONG),
    ask.LapseAnswer: (
        _BY_MACHINE,
        Rule("OPR-106", "event_not_found", "only a message that still waits can lapse",
             breach.nothing_to_lapse, "`moot event list` shows what was sent to whom"),
    ),
    ask.Withdraw: (
        Rule("P-30", "event_not_found", "there is no such entry", breach.unknown_entry,
             "`moot event list` shows ids; an old entry is for a person to withdraw",
             requirement="OPR-107"),
        Rule("B-27", "not_withdrawable", "only an overlap, or a request that waits, is withdrawn",
             breach.not_withdrawable, "`moot event list` shows what each entry is",
             requirement="OPR-106"),
        Rule("P-30", "withdraw_forbidden", "this is for another to withdraw",
             breach.withdrawn_by_another, "a request is its sender's to withdraw, an overlap the"
             " holder's; a person at a terminal may both", requirement="OPR-107"),
        Rule("P-30", "reason_required", "say why", breach.reason_missing,
             "--reason TEXT", requirement="OPR-107"),
        Rule("P-30", "evidence_required", "the system cites its evidence", breach.evidence_missing,
             "name what shows that the entry is false", requirement="OPR-107"),
        _LONG,
    ),
    ask.SetStaleMinutes: (
        Rule("OPR-001", "human_key_required", "only a person or the workspace itself sets this",
             breach.not_by_person_or_system, "let a registered person do this"),
        Rule("B-19", "bad_stale_minutes", "not a stale time", breach.bad_stale_time,
             "a positive number of minutes, at most a year", requirement="OPR-020"),
    ),
    ask.EndGone: (
        _BY_MACHINE,
        Rule("P-44", "work_unfinished", "the exited session has uncommitted work",
             breach.exited_with_uncommitted_work, "`moot run --adopt NAME` continues it",
             requirement="OPR-030"),
    ),
    ask.FreeScopes: (
        Rule("P-46", "human_key_required", "only a person at a terminal releases by force",
             breach.not_by_attended_person, "unlock your own key at a terminal",
             requirement="OPR-030"),
        Rule("P-46", "reason_required", "say why", breach.reason_missing, "--reason TEXT",
             requirement="OPR-030"),
        _ROOT,
        _NAMED,
        *_READABLE,
        _MANY,
        _LONG,
        Rule("OPR-102", "reservation_not_found", "this is not reserved", breach.scope_not_held,
             "`moot scope list` shows what is"),
    ),
    ask.ExpireScopes: (_BY_MACHINE,),
}  # fmt: skip
