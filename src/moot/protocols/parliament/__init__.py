"""Parliament: representatives draft, debate, amend and vote; a person decides.

    admission_checks.py  who may ask, and when: seats, speaker, person; phases, rounds, the
                         clock
    case.py              A command under check: who gives it, for which seat, with which
                         message, draft or amendment
    command_events.py    the events that each accepted command records, and those that a
                         malformed reply leaves behind
    commands.py          the commands of a parliament
    discipline.py        order in the chamber: quiet for a round, and expulsion after two
                         malformed replies
    events.py            the events of a session
    evolution.py         the state after an event
    machine.py           the automaton of a session
    message_checks.py    checks on what seats say: statements, drafts, questions, answers, the
                         length of a response
    model.py             the nouns of a session: seats and their motives, the running round, the
                         bill, the open ballot
    motives.py           motives: who stands for what, how well the bill serves it, and who
                         should be asked next
    phases.py            the nine statuses (PAR-091): which event leads where (C-22), and what
                         belongs to which status
    round_clock.py       the debate clock of a running session: what its round has left, and
                         when a vote is forced
    rules.py             the rules of a session, one row each: the norm's id, its code, its
                         sentence, its check, a hint
    session_files.py     the four session files as bytes: `ledger.json`, `session.json`,
                         `bill.json` and `round-summaries.json`
    short_forms.py       messages in a few words, as people type them: `vote`, `ask`, `endorse`,
    summaries.py         round summaries, in the shape of `round-summaries.json`
    turns.py             whose turn it is: who owes an answer, a statement, a vote, a ruling or
                         a decision
    views.py             what people and agents read of a session: where it is, who stands
                         where, what is possible
    votes.py             the ballot: who is missing, what the result is, and what follows from
                         it
    documents/           A session as people and participants read it
    files/               the four files of a session, as anyone may check them: from their bytes
                         alone
    messages/            the ten messages in themselves: their words, their fields, their form

Each session is a stream (`parliament/parl-20260210-001`). The clerk and the speaker act as
`system`, a seat with the key of its agent, the prime minister with a person's key.

The folders import in one direction: documents, then the files here, then files/, then messages/.
"""
