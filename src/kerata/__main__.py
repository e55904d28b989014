"""`python -m kerata`: the command line where the `kerata` script isn't on the path."""

from kerata.cli import main

if __name__ == "__main__":
    main()
