"""Tests of Go networks that predict the owner of each intersection at the end of the game."""
