"""The paper: its experiments as panels, its claims, and the verdicts."""
