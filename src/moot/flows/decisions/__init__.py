"""Decisions: a question put to participants, a person's ruling, and a receipt that proves both.

questions.py       questions on record: seated, put under an id, and read back
ask.py             first answers, a motion, an argument, a result that waits for a person's ruling
earlier_decisions.py   what was settled about the files that a session is about to edit
decide.py          that ruling: approve, amend or veto
argument.py        what a chamber's argument came to, in one shape for both chambers
debate_result.py   that shape from a debate
parliament_result.py   that shape from a parliament
receipt_content.py     everything a receipt says, as plain data
receipt.py         the event that signs for it, and the file: docs/format.md section 8
receipt_page.py, receipt_tables.py   the same for people: a page, or a decision record in markdown
"""
