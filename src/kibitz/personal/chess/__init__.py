"""The chess part of personal networks: the person's positions and moves, the network, and the correction by the opening
book.
"""
