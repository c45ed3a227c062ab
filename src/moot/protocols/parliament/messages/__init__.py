"""The ten messages in themselves: their words, their fields, their form. No session is known here.

    words.py      the closed vocabularies, spelled as the protocol spells them
    contents.py   what each type of message holds, as frozen values
    shapes.py     JSON shapes as tables             schema.py     the shape of each type
    message.py    a message, read and written       templates.py  one of each, to be filled in
    sentences.py  counted and cut                   excerpts.py   quoted within bounds
    limits.py     exchanges, sentences, majority: the arithmetic of messages

Whether a message fits the moment of a session is decided by the rules one folder up.
"""
