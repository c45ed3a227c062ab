"""What joins the protocols: follow one, command another. No rules of their own.

`arrival.py`: a name and its key in the registry, and the agent behind it in presence.
"""
