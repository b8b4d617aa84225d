"""Tests of networks that say who will own each point."""
