"""Tests of networks that predict moves."""
