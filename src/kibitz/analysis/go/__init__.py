"""Analyses of Go games."""
