"""A parliament over its record and its four files.

parliament_session.py   a session: commands into the record, files after each of them
incoming_message.py, submitting.py   a message, checked once, on its way into a session
convening.py            how a session begins: anew, or from files of elsewhere
parliament_files.py, session_ids.py  its files on disk, and which session a folder holds
ruling.py, results.py   what a person decided and what a vote came to, also in the decision
procedure.py            the speaker and the clerk of a session that runs by itself
bills.py, scripted_seats.py          a bill as text, and whose words came from a script
"""
