"""Durable campaigns: many workers ask which arm to play and tell rewards later; nothing is lost.

A :class:`Store` is a database (SQLite, or PostgreSQL) of campaigns. A campaign is an agent whose every event is logged:
the log is the source of truth, and the agent's state is derived from it. See ``docs/do/campaign.md``.
"""

from .campaign import Campaign as Campaign
from .comparison import Comparison as Comparison
from .comparison import ShadowEstimate as ShadowEstimate
from .guardrails import Guardrail as Guardrail
from .records import Decider as Decider
from .records import Decision as Decision
from .records import DecisionState as DecisionState
from .records import Entry as Entry
from .records import Evaluation as Evaluation
from .records import EventKind as EventKind
from .records import LogEntry as LogEntry
from .records import Verification as Verification
from .requests import AcceptClock as AcceptClock
from .requests import AddArm as AddArm
from .requests import Amend as Amend
from .requests import Ask as Ask
from .requests import Cancel as Cancel
from .requests import Change as Change
from .requests import Record as Record
from .requests import RecordAll as RecordAll
from .requests import Resume as Resume
from .requests import RetireArm as RetireArm
from .requests import Suspend as Suspend
from .requests import Tell as Tell
from .status import ArmStatus as ArmStatus
from .status import SegmentStatus as SegmentStatus
from .status import Status as Status
from .store import Store as Store
