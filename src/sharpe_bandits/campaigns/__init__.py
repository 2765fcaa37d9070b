"""Durable campaigns: many workers ask which arm to play and tell rewards later; nothing is lost.

A :class:`Store` is a database (SQLite, or PostgreSQL) of campaigns. A campaign is an agent whose every event is logged:
the log is the truth, and the agent's state follows from it. See ``docs/campaigns.md``.
"""

from .campaign import Campaign as Campaign
from .decisions import Decision as Decision
from .evaluation import Evaluation as Evaluation
from .status import ArmStatus as ArmStatus
from .status import Status as Status
from .store import Store as Store
from .verification import Verification as Verification
