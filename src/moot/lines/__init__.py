"""Who changed which lines of a file since its last commit. Pure: no IO, no clock.

Several agents may edit one file of one checkout. For each file Moot keeps a short list of segments
over the committed version. It refuses an edit only if it touches a line that another agent has not
committed yet.

changed_outside.py  a change that no hook saw: what a formatter leaves with its author, the rest
edit_input.py       from the input of a tool's edit to the lines that it changes
encoding.py         what is stored for each file, as bytes
line_diff.py        from two versions of a file to the lines that differ
merge.py            merges a whole-file write with what others wrote since the agent read the file
rebase.py           carries the segments over to a new committed version
rules.py            which edit is refused, and which line is in the way
segments.py         the segments: edits, versions, commit, undo
text.py             bytes as lines, and back
units.py            the function or class around a line
"""
