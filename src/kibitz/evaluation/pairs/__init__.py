"""Tests of networks that compare two positions."""
