"""Choosing chess moves by comparing positions (DeepChess): an alpha-beta whose bounds are positions."""
