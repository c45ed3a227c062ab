"""`moot serve`: a workspace in the browser while agents work. It reads; no agent writes through it.

    access.py         what every request passes first, and what every answer carries
    answers.py        one envelope for every answer, as the command line prints it, with an ETag
                      and a status
    app.py            the files of the page, read once and given by name: no path of a request
                      reaches the disk
    human_rulings.py  A person's word that was prepared on the page, given in the terminal of
                      `moot serve --decide`
    live.py           who listens, and what they are told: which screens changed, never what
                      happened (OPR-096)
    openapi.py        the API as an OpenAPI document, made from the types of the operations and
                      from the table of routes: there is nothing to keep up by hand, and a test
                      holds answers to it
    readers.py        threads that read
    routes.py         which address is which operation
    server.py         starting the server: where it listens, under which names, and what is
                      printed

Starlette and uvicorn are imported here alone, and only by `moot serve`.
"""
