"""What joins the protocols: follow one, command another. No rules of their own.

`arrival.py`: a name and its key in the registry, and the agent behind it in presence.
`tracing.py` a trace from outside, `execution.py` and `running.py` an intent really run,
`inspection.py` and `auditing.py` whether it is true, `watching.py` what only a hook saw.
`session.py`: a debate's file and its record, written in one step (`sessiondesk.py`);
`sessionfile.py` the file by itself, `sessionreading.py` what was read of it, `sessionrecord.py`
both side by side, `sessioncheck.py` one held against the other, `sessionwatch.py` a file as
others write it, `sessiontrust.py` how far the author of an entry is proved, `others_words.py` what
another said, put into it as a quotation.
`reports.py` the page of anything with an id, `receipts/` a decision as a file that proves itself.
"""
