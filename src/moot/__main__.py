"""`python -m moot` is `moot`."""

from moot.surfaces.cli.entry import main

if __name__ == "__main__":
    main()
