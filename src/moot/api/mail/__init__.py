"""Mail between agents.

answers.py        answers to mail: given, still owed, chased when they are overdue
imports.py        mail from outside of the ledger, taken in once
inbox.py          what was sent to an agent, what is new, and how far it has read
lapsed_duties.py  answers that nobody owes or awaits any more
letters.py        who is meant by a name, which thread, where a long text goes, how many a minute
messages.py       messages on record: looked up by their ids, read whole
notices.py        HANDOFF and BLOCKED: one act in two records, presence and mail
reading.py        inboxes, single messages with their answers, threads, search
research.py       what was contributed to a thread, merged into its next version
runs.py           mail answered by participants: programs, models, scripts, people
sending.py        messages are sent, or taken in from outside
texts.py          empty messages to fill in, and what is wrong with one
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.mail import answers as answers
    from moot.api.mail import reading as reading
    from moot.api.mail import research as research
    from moot.api.mail import runs as runs
    from moot.api.mail import sending as sending
    from moot.api.mail import texts as texts
