"""Tests of networks that predict the winner."""
