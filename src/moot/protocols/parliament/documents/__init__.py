"""A session as people and participants read it.

    proceedings.py  the state, every message, every summary: what the documents are made of
    final_document.py        the final document, in seven sections
    report.py       the session as a page
    difference.py   what changed between two versions of the bill
    turn_context.py      what a participant is given to read before its turn

Nothing here decides anything, and nothing in the folder above imports it.
"""
