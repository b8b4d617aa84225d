"""Choose chess moves by comparing positions (DeepChess): an alpha-beta search whose bounds are positions."""
