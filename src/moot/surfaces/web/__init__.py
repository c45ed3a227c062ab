"""`moot serve`: a workspace in the browser while agents work. It reads; no agent writes through it.

    access.py         checks of every request: host, origin and secret; headers of every answer
    answers.py        one envelope for every answer, as the command line prints it, with an ETag
                      and a status
    app.py            the application: static files, reports, downloads, and the API
    human_rulings.py  A person's ruling that was prepared on the page, given in the terminal of
                      `moot serve --decide`
    live.py           live events: which screens changed, never what happened (OPR-096)
    openapi.py        the API as an OpenAPI document, made from the types of the operations and
                      the table of routes
    readers.py        threads that read the workspace, and checks of the record
    routes.py         which address calls which operation
    server.py         start the server: where it listens, under which names

Starlette and uvicorn are imported only here, and only by `moot serve`.
"""
