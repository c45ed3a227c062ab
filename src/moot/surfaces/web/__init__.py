"""`moot serve`: a workspace in the browser while agents work. It reads; no agent writes through it.

    routes      which address is which operation, and how its arguments are read
    answers     one envelope for every answer, its ETag, and the status of an error
    access      who may look: the token, both halves of the secret, one-use tickets
    gate        what every request passes first: Host, Origin, size; and what every answer carries
    live        who listens, and what is said to them: which screens changed
    readers     threads that read, each with a workspace of its own
    watcher     notices changes, once for all who listen
    checks      the record is checked in a process of its own; the last verdict is kept
    openapi     the API described from its types
    app, server what all of this is put together in, and how it is started
    static/     the page: its modules, its style, its icon

Starlette and uvicorn are imported here alone, and only by `moot serve`.
"""
