"""Parliaments: call a session, submit messages, vote, decide, print the final bill.

bill.py         the bill of a parliament and its four files: from drafters to the final
                document
session.py      A parliament's session: call it, bring messages, let participants sit, see
                who is next
short_forms.py  what a seat or the speaker says, typed in a few words: one row of this table
                a command
"""
