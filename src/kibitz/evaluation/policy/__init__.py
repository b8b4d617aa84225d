"""Tests of networks that predict the moves of players."""
