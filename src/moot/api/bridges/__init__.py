"""From one protocol to another, and the whole path that a thing belongs to.

protocols.py   what happened in one protocol leads to something in the next
work.py        to provable work and back
stories.py     the whole path, as a story
steps.py       what every such step has in common
"""
