"""``make demo``: a store with three simulated campaigns, workers that keep asking and telling, and the dashboard."""
