"""Parliaments: call a session, submit messages, vote, decide, print the final bill.

bill.py         the bill of a parliament and its four files: from drafters to the final
                document
session.py      a parliament's session: call it, submit messages, see its state and who is
                next
short_forms.py  messages of a seat or the speaker, typed as options: one row of a table for
                each command
"""
