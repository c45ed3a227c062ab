"""Mail: who told whom what, and who still owes an answer (Brenner Protocol v0.1).

    artifact.py        the artifact of a research thread: seven sections of numbered items, and
                       its markdown
    body.py            A body as the rules see it: its title, its level-2 sections, its fenced
                       blocks
    body_writer.py     bodies that are written from fields: ACK, Validation Error, HANDOFF,
                       BLOCKED, QUESTION
    case.py            one command under check: its text linted, and the message that it answers
                       looked up
    checks.py          the checks behind the rule table: each yields a breach for every place
                       that breaks its rule
    codec.py           A message as a file: front matter with the envelope, then the body as it
                       is; or one JSON object
    command_events.py  the events that an accepted command leaves on record
    command_rules.py   the rules of sending and answering, one table for each command
    commands.py        the commands of a mail thread
    delta_checks.py    the checks of DELTA messages: each block is JSON, an object, and says
                       what to do with what
    deltas.py          delta blocks: strict JSON in top-level fences whose info string is
                       exactly `delta`
    events.py          the events of a mail thread
    fix.py             `--fix`: what can be repaired without guessing, and nothing else
    index_keys.py      names of mail's index spaces and keys; it imports nothing, so that a hook
                       reads an inbox fast
    machine.py         the automaton of one message, and the machine of its thread
    merge.py           deltas into the artifact, in one order whatever the order of delivery
    message.py         A message as the rules look at it: subject and body read once, and the
                       names known here
    message_rules.py   the rules of a message, one row each: id, code, sentence, check, what to
                       do, severity
    model.py           the nouns of one mail thread: messages that may still be answered, and
                       who owes what
    types.py           the ten message types as data: when an ACK is owed, which sections a body
                       has, what they ask
    views.py           what people and agents read of mail: Structs whose JSON is the `data` of
                       the commands

A message is a subject with one of ten prefixes and a markdown body whose sections follow from the
prefix. It is checked before it is sent; some types are owed an ACK by everyone they are sent to;
the DELTA messages of a research thread merge into one artifact. Each thread is a stream.

Text that others wrote never becomes structure: headings, fences and deltas count only at the top
level of a body, and text that Moot writes from fields stays inside its section.
"""
