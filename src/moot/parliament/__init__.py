"""Parliament: representatives draft, debate, amend and vote; a person decides.

One stream a session (`parliament/parl-20260210-001`). The clerk and the speaker act as `system`,
a seat with the key of its agent, the prime minister with a person's key.

    words.py      the closed vocabularies            contents.py   what each message holds
    messages.py   the ten types, read and written    schema.py     what is checked in a message
    model.py      seats, round, bill, ballot, State  phases.py     TRANSITIONS, what fits where
    commands.py   what may be asked                  events.py     what may stand in the ledger
    rules.py      the rules as a table               checks.py     setup.py   their checks
    drafts.py     what is recorded                   evolution.py  effects.py what follows from it
    machine.py    decide, index, MACHINE             turns.py      whose turn it is

The nouns have a module each: clock, sentences, temperatures, concessions, discipline, motives,
amendments, votes, drafter. Papers: papers, inspection, summaries, windows, difference, final.
"""
