"""Bandits at work: agents in memory (ask, tell), and campaigns, which are agents with a durable log."""
