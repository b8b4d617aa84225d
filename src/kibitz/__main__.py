"""Run the command line: `python -m kibitz` does the same as the command `kibitz`."""

from kibitz.cli import main

if __name__ == "__main__":
    main()
