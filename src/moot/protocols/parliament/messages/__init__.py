"""The ten messages in themselves: their words, their fields, their form. No session is known here.

    contents.py  what each type of message holds, as frozen values in the order the protocol
                 prints them
    limits.py    how many exchanges a round has, how long a response may be, and how many votes
                 pass a bill
    message.py   messages: as a seat sends them (the Agent Response Format) and as the ledger
                 has them
    schema.py    what a message must look like, type by type: one table of fields, then how its
                 fields must agree
    shapes.py    shapes of JSON as tables: which keys and values, under which norm

Whether a message fits the moment of a session is decided by the rules one folder up.
"""
