"""The same work beside what people use instead, each in an environment of its own, in one run.

    python -m bench.peers                        everything; build/peers has page, picture and rows
    python -m bench.peers --peer ag2             some of them (Moot is always there)
    python -m bench.peers --measure append       one question
    python -m bench.peers --docs                 write the page in docs and its picture as well
    python -m bench.peers --again --docs         write the page again from the rows that were kept

`peers.py` says who, `questions.py` what is asked. `environments.py` makes an environment for each
with `pip install`; one that does not install is a line that says so. In `drivers/` is one small
program for each: that environment's Python runs it, and it speaks as `drivers/protocol.py` says.
`driver_process.py` holds one such program to its time limits, `interleaving.py` lets all of them
take turns, `rows.py` and `page.py` make of it what is read. Nothing here is tuned for anyone: each
does the work through its public interface, as its own documentation shows it.
"""
