"""Set up kibitz in other programs: `programs.py` has a row for each program, `writing.py` writes its files."""
