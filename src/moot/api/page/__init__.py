"""What a page that is left open all day shows: whole screens, each read in one go.

    changes.py        which screens differ since the last look
    conversation.py   what was said about one work item: events and messages, in order
    decisions.py      what is being decided and what was; one of them, with its report
    files.py          writes a page as HTML, markdown or JSON, as its name says
    messages.py       mail of all agents or of one, with who has seen and answered it
    report_site.py    all pages in one folder, with an index
    reports.py        one report for any id: the page of the protocol it belongs to (DEC-025)
    rulings_asked.py  what a person is asked to rule on
    search.py         what holds all these words, across the protocols
    sessions.py       who works on what, as cards in groups (OPR-089, OPR-090)

Reading moves no cursor and applies no time limit. Any way in may call them; the page is one.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.page import conversation as conversation
    from moot.api.page import decisions as decisions
    from moot.api.page import messages as messages
    from moot.api.page import search as search
    from moot.api.page import sessions as sessions
