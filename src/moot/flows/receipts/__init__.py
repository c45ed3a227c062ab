"""The receipt of a decision: what it says, signed for by the machine, with the record inside.

argued.py   what a chamber's argument came to, in one shape for both chambers
debated.py  that shape from a debate
sat.py      that shape from a parliament
says.py     everything a receipt says, as plain data
making.py   the event that signs for it, and the file: docs/format.md section 8
page.py     the same for people: a page, or a decision record in markdown
"""
