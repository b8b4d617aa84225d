"""Choose chess moves with a network that compares two positions (DeepChess): an alpha-beta search whose bounds are
positions.
"""
