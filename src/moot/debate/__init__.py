"""Debate: do we agree, and how surely (Bounce Protocol v0.1).

One markdown file is one session: a header, a title, the rules, the context, and the dialogue,
which only ever grows. Each entry states a stance and a confidence and ends with a yield marker.
Whose turn it is, whether a round is over and whether consensus was reached all follow from the
file alone; no workspace is needed.
"""
