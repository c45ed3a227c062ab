"""Steps from one protocol to another, and the path that joins them.

approval_to_trace.py  an approved bill becomes a trace, with the planner's proposal in it
damage.py             refuses to start a flow from a damaged record or file
handovers.py          gives an adopted name its parts and seats back; reports takeovers and timeouts
participants.py       finds one agent under its names in every protocol (FLO-10)
protocols.py          operations that open a debate or a parliament
sources.py            finds the record that an id, a file or a folder refers to
steps.py              takes one step of a path, recorded before it is made, and only once
stories.py            the operation `story`: a path as sentences and as a page
story.py              reads a path in order: every step and record, who and when
to_debate.py          opens a debate about a message
to_mail.py            steps that send a message, and challenges that come from one
to_parliament.py      convenes a parliament after a debate
work.py               operations that lead to traces, and from traces to mail
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.bridges import protocols as protocols
    from moot.api.bridges import stories as stories
    from moot.api.bridges import work as work
