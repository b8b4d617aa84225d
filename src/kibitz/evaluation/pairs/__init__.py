"""Tests of networks that compare two chess positions."""
