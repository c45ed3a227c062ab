"""Bridges: what happens in one protocol leads to something in another.

Every one is a step of a path (`protocols/path`): it names its source record and its target before
anything is made, makes what is missing, and says what it made. Run again it finds what is there.
Flows are the machine's acts, with whoever asked named; what only an agent or a person may do
(propose, acknowledge, challenge, take a key back) is done under that one's own key or not at all.

    steps.py              begin, make, finish; what a failed step leaves behind
    notify.py, to_mail.py    who must know; a message as a step
    sources.py            the record that a native id, a file or a folder stands for
    damage.py             a flow does not go on from anything that was changed
    liveness.py           how alive those are who would have to act
    plans.py              how the debate or the parliament shall be
    to_debate.py          BLOCKED, QUESTION, KICKOFF, CRITIQUE -> debate
    to_parliament.py      consensus or deadlock -> parliament; seeds.py: texts to begin with
    approval_to_trace.py  an approved bill -> a trace and its proposal
    critique_loop.py      CRITIQUE <-> challenge; a verification -> INFO
    done_to_ack.py        verified work -> ACK Completed
    timeout_to_operator.py, takeover.py, resume.py    what nobody else would say
    identities.py         one person under all native names
    story.py              the whole path in order, moment by moment; story_page.py: as a page
    decision_story.py     a decision as a story tells it
"""
