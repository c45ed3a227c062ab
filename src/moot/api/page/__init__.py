"""Whole screens for a page that stays open, each read in one call.

    changes.py            which screens changed since the last look
    conversation.py       events and messages about one work item, in order
    decisions.py          open and past decisions; one of them, with its report
    files.py              write a page as HTML, markdown or JSON
    messages.py           mail of all agents or of one, with who has seen and answered it
    report_site.py        all pages in one folder, with an index
    reports.py            one report for any id: the page of its protocol (DEC-025)
    requested_rulings.py  what a person is asked to rule on
    search.py             search by words, across the protocols
    sessions.py           who works on what, as cards in groups (OPR-089, OPR-090)

Reading moves no cursor and applies no time limit. Every surface may call these operations.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.page import conversation as conversation
    from moot.api.page import decisions as decisions
    from moot.api.page import messages as messages
    from moot.api.page import search as search
    from moot.api.page import sessions as sessions
