"""Torture of campaigns: many processes, kill -9 at random moments, a million decisions: ``make torture``."""
