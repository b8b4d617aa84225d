"""Training: the loop that all systems (kinds of networks) share. The loop writes a run, the directory of the trained
network.
"""
