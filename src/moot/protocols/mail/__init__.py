"""Mail: who told whom what, and who still owes an answer (Brenner Protocol v0.1).

A message is a subject with one of ten prefixes and a markdown body whose sections follow from the
prefix. It is checked before it is sent; some types are owed an ACK by everyone they are sent to;
the DELTA messages of a research thread merge into one artifact. One thread is one history.

The text, with no ledger behind it:

    types.py            the ten types as data: ACK table, sections, what each asks
    subject.py          `TYPE: words`, `DELTA[role]: words`
    threads.py          ids of threads
    body.py             title, sections, fenced blocks of a body
    outline.py          headings and fences of a markdown text
    message_draft.py    a message as the rules look at it: subject and body read once
    rules.py            MB-001 to MB-012 and MBX-...: the rule table of messages
    checks.py           the checks behind that table; those of one type in type_checks.py,
                        those of DELTA in delta_checks.py
    lint.py             every finding about one message
    fix.py              repairs without guessing
    templates.py        a new message to fill in
    body_writer.py      bodies written from fields
    codec.py            a message as a file, with its envelope

Research threads:

    deltas.py           delta blocks as strict JSON
    stray_deltas.py     deltas in the wrong place
    merge.py            ADD, EDIT, KILL in one order
    merge_rules.py      the rows for what a merge finds
    artifact.py         seven sections of numbered items, and their markdown
    compilation.py      COMPILED vN with contributors and statistics

The history of a thread:

    model.py            messages that wait for an answer
    commands.py         what may be asked
    events.py           what may stand in the ledger
    case.py             one command under check
    facts.py            item, taker, title, version: what the record needs of a body
    command_rules.py    who may send and answer what: the rule table of the history
    event_drafts.py     the events of a command
    acknowledgement.py  a message after an answer
    evolution.py        the state after an event
    index_rows.py       index rows
    keys.py             their names and keys
    sender.py           a sender as it may be shown
    machine.py          decide, evolve, agenda, timeouts, index
    views.py            what people and agents read

Text that others wrote never becomes structure here: headings, fences and deltas count only at the
top level of a body, and what we write from fields stays inside its section.
"""
