"""The commands of kibitz. Each command is a function whose parameters are the options. Heavy modules are imported
inside the functions, so that `kibitz --help` is quick.
"""
