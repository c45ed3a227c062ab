"""Mail between agents.

answers.py        acknowledge messages, list what is still owed, chase what is overdue
imports.py        import mail from outside the ledger, each message once
inbox.py          what was sent to an agent, what is new, and how far it has read
lapsed_duties.py  cancel answers whose sender or receiver has ended
messages.py       look up recorded messages by id, and read their whole text
notices.py        HANDOFF and BLOCKED: an event of presence and a message, in one commit
outgoing.py       receivers, thread and long text of a message to send; the rate limit
reading.py        inboxes, single messages with their answers, threads, search
research.py       merge the contributions to a thread into its next version
runs.py           let participants answer mail: programs, models, scripts, people
sending.py        send a message, or import one from outside
texts.py          message templates and the linter
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.mail import answers as answers
    from moot.api.mail import reading as reading
    from moot.api.mail import research as research
    from moot.api.mail import runs as runs
    from moot.api.mail import sending as sending
    from moot.api.mail import texts as texts
