"""Recorded returns: reading them with every doubt named, their statistics, and a ranking that is not over-believed."""
