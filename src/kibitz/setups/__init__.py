"""Add kibitz as an engine to other chess and Go programs. `programs` contains the instructions and the files for each
program. `writing` contains the functions that write the files.
"""
