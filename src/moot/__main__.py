"""`python -m moot` is `moot`."""

from moot.surfaces.cli.main import main

if __name__ == "__main__":
    main()
