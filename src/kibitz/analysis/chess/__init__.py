"""Analyses of chess games."""
