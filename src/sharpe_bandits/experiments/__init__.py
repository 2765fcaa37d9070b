"""Experiments as data: a description in TOML becomes cases to simulate."""
