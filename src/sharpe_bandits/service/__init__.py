"""Campaigns over HTTP: an API, a dashboard in the same process, and a client with the methods of a campaign.

``sharpe-bandits serve campaigns.db`` runs it; ``docs/do/service.md`` describes it.
"""
