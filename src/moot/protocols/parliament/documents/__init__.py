"""A session as people and participants read it.

    final_document.py  the final document: seven sections, every dissent in full, every vote on
                       record
    report.py          A session as a page: what was decided, who was against it, the chamber,
                       the bill's history
    turn_context.py    what a participant is given to read: the near rounds in full, the far
                       ones as summaries

Nothing here decides anything, and nothing in the folder above imports it.
"""
