"""How people and programs reach Moot. Surfaces parse, execute and render; they hold no rules.

environment.py  environment variables that say who acts; read once, passed on as values
cli/            the command line, a contract: names, exit codes and the JSON envelope stay
                as they are
demo/           the demonstration: three acts on a real repository, with nothing faked
                (DEC-026)
hooks/          hooks of coding tools: refuse an edit of a file that another agent holds
mcp/            `moot mcp`: eight tools for a model, over the Model Context Protocol on
                standard streams
terminal/       what every command of the command line needs
web/            `moot serve`: a workspace in the browser while agents work
"""
