"""The base of all other packages: records, keys, state machines, errors. Pure: no IO.

canonical.py        canonical JSON: the subset of RFC 8785 on which all implementations agree
checkpoint_note.py  the checkpoint as a C2SP signed note, and the tree that it signs
clock.py            time as data: whole milliseconds since 1970 UTC
debug.py            the lines that MOOT_DEBUG=1 prints
ed25519.py          Ed25519 by libsodium, through the C binding inside PyNaCl
errors.py           the few exceptions, each with a stable code and a hint
failed_answer.py    why a participant gave no usable answer: one of a closed set of reasons
findings.py         rules and findings as data: what a check found, where, and what to do
ledger.py           the interface that every store implements
machine.py          the interface of every protocol: commands in, events out, and what is due
markdown.py         what each line of a markdown text is: heading, code, comment, quote, prose
names.py            grammars of the ledger: agents' names, streams, roles, idempotency keys
numbers.py          confidence intervals for small samples
paged_map.py        a sorted map in pages: read from a snapshot and changed page by page
record.py           one signed event: its body, its exact bytes, its hash
secrets.py          finds secrets in texts, and redacts them
sha256.py           SHA-256 without loading OpenSSL
shell_words.py      a shell command's text as words and operators, as a POSIX shell splits it
signing.py          Ed25519 keys and DSSE signatures, with libsodium's strictness
text.py             text that another party chose, and how Moot quotes it
version.py          the version of this program
registry/           the stream that says which keys exist, for whom, and since when
"""
