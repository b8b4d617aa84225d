"""Tests of networks that say who wins."""
