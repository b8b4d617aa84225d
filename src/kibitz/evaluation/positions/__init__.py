"""Tests of chess networks that predict the winner."""
