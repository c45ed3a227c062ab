"""From one protocol to another, and the whole path that a thing belongs to.

approval_to_trace.py  an approved bill becomes a trace, with the planner's proposal in it
damage.py             a flow does not go on from a damaged record or file
handovers.py          who goes on under an old name gets its parts and seats back
participants.py       one person under all native names (FLO-10)
protocols.py          from one protocol to another, as operations
sources.py            the record that a native id, a file or a folder stands for
steps.py              one step of a path: on record before it is made, and made once
stories.py            the whole path that something belongs to, as sentences and a page
story.py              the path in order: every step and record, who, when, in a few words
to_debate.py          a message that needs an answer by several becomes a debate
to_mail.py            a message by the machine, once, as a step of a path
to_parliament.py      what a debate agreed on, or could not, goes to a parliament
work.py               to provable work and back, as operations
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.bridges import protocols as protocols
    from moot.api.bridges import stories as stories
    from moot.api.bridges import work as work
