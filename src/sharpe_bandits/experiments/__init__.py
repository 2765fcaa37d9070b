"""Experiments as data: a description in TOML becomes cases that can be simulated."""
