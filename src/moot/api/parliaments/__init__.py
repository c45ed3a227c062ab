"""Parliaments: from the call of a session to its final document.

sessions.py   a session is called, messages are brought, and it says who is next
bills.py      the bill: drafted, amended, voted on, decided by a person
files.py      the four files: checked, taken in, written again; and what is made of them
runs.py       a parliament whose seats are taken by participants
"""
