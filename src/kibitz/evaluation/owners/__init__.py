"""Tests of networks that predict the owner of each point."""
