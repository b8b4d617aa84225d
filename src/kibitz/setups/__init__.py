"""Add kibitz to other chess and Go programs. `programs.py` describes each program, and `writing.py` writes its
files.
"""
