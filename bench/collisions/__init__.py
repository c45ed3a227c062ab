"""What does coordination save, and what does it cost? The same work, under five ways to share it.

    python -m bench.collisions                 every arm, five seeds: table, page, picture, rows
    python -m bench.collisions --seeds 1 --agents 4 --overlap 0.5

Several agents, each a process of its own, change one generated repository. Each reads a file,
thinks for a while, and edits it as its coding tool would; some files are wanted by several. The
repository has a test for each change, which passes only if that change is there at the end. All
arms get the same changes, the same thinking times and the same tools.

`work.py` is the repository and the changes in it, `arms.py` the ways to share it, `tool.py` what a
coding tool itself does with an edit, `coordination.py` how an agent asks for a file in each arm,
`agent.py` the process of one agent, `merging.py` brings branches together, `course.py` runs one
course of events and counts, `tally.py` takes medians, `page.py` shows them.
"""
