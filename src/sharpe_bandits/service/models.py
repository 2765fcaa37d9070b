"""Models of requests and answers. The library itself validates values, with messages that name the remedy."""

# Models are made of the library's dataclasses, which mypy does not see as types.
# mypy: disable-error-code="valid-type"

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, create_model

from ..confidence_sequences import Leader
from ..live.campaigns.records import CIRCUMSTANCES, MEASURES, Decision, Entry, Evaluation, LogEntry, Verification
from ..live.campaigns.rules import Rules
from ..live.campaigns.settings import optional_settings
from ..live.campaigns.status import ArmStatus, Status

#: A reward, or another number.
Number = StrictInt | StrictFloat
Count = Annotated[StrictInt, Field(ge=1, le=10_000)]
#: Names are validated by the library; longer text is refused here.
Text = Annotated[StrictStr, Field(min_length=1, max_length=20_000)]
Which = Annotated[StrictInt, Field(ge=1, le=2**53)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", title=None)


def _optional(described: Mapping[str, Mapping[str, Any]], text: Any = Text) -> Any:
    """The base of requests with these settings, or columns of decisions; ``text`` is the type of what is text there."""
    kinds: dict[type, Any] = {int: StrictInt, float: Number, str: text}
    types = {name: (kinds[about["kind"]], about) for name, about in described.items()}
    fields = {
        name: ((dict[str, kind] if about.get("pairs") else kind) | None, Field(None, description=about["help"]))
        for name, (kind, about) in types.items()
    }
    return create_model("_Optional", __base__=_Body, **fields)  # type: ignore[call-overload]


_Settings = _optional(
    {name: setting.metadata for name, setting in optional_settings().items()},
    Text | Number | dict[str, Any] | list[dict[str, Any]],
)


class NewCampaign(_Settings):  # type: ignore[misc]
    """A campaign to create, or whose existence to check."""

    name: Text = Field(description="of the campaign; up to 200 characters")
    policy: Text | dict[str, Any] = Field(
        description="as on the command line, SF-UCB:L=1e-5,c=0.5, or the result of policy.to_dict()"
    )
    L: Number | None = Field(None, description="regulariser of a policy given as text, if the text has none")
    risk_free: Number = Field(0.0, description="per round, of a policy given as text")
    arms: (
        Annotated[list[Text], Field(min_length=2, max_length=10_000)] | Annotated[StrictInt, Field(ge=2, le=10_000)]
    ) = Field(description="a list of names, or their number")


class AskBody(_optional(CIRCUMSTANCES)):  # type: ignore[misc]
    """A request for decisions: one, one per key, or ``count`` of them."""

    key: Text | None = Field(None, description="idempotency key: the same key returns the same decision")
    keys: Annotated[list[Text | None], Field(min_length=1, max_length=10_000)] | None = Field(
        None, description="a decision per key; null for one without"
    )
    count: Count | None = Field(None, description="number of decisions, without keys")
    distinct: StrictBool = Field(False, description="whether the decisions are of different arms")
    among: Annotated[list[Text | StrictInt], Field(min_length=1, max_length=10_000)] | None = Field(
        None, description="the arms that can be played now"
    )
    worker: Text | None = Field(None, description="who asks; by default the name of the token")


class KeysBody(_Body):
    """Idempotency keys."""

    keys: Annotated[list[Text], Field(max_length=10_000)]


class Reward(_optional(MEASURES)):  # type: ignore[misc]
    """The reward of a decision."""

    decision: Which | Text = Field(description="its number, or its key")
    reward: Number
    seen: dict[str, Number] | None = Field(None, description="rewards of arms that were not played but seen")

    def told(self) -> Any:
        """The reward as a campaign takes it."""
        more = self.model_dump(exclude={"decision"}, exclude_none=True)
        return more if len(more) > 1 else self.reward


class RecordBody(_optional(MEASURES | CIRCUMSTANCES)):  # type: ignore[misc]
    """A decision that somebody else made."""

    arm: Text | StrictInt
    reward: Number | None = None
    key: Text | None = Field(None, description="idempotency key: recording it again changes nothing")
    propensity: Number | None = Field(None, description="probability with which the arm was chosen, if it is known")
    worker: Text | None = Field(None, description="who decided; by default the name of the token")
    instead_of: Text | None = Field(
        None, description="key of a decision that was asked for and never arrived: it is cancelled if it is pending"
    )


class RecordsBody(_Body):
    """Decisions that somebody else made."""

    records: Annotated[list[RecordBody], Field(min_length=1, max_length=1000)]
    history: StrictBool = Field(False, description="whether they were made before the campaign")


class AmendBody(_Body):
    """A corrected reward."""

    reward: Number
    why: Text | None = None


class ReasonBody(_Body):
    """Why something is changed."""

    why: Text | None = None


class RulesBody(_Body):
    """Rules to change; those left out stay as they are, and null switches control, fallback and webhook off."""

    mode: Literal["live", "shadow", "paused"] | None = None
    share: Number | None = Field(None, description="probability with which the policy decides")
    control: Text | StrictInt | None = Field(None, description="the control arm, which gets the rest")
    fallback: Text | StrictInt | None = Field(None, description="arm to play while the campaign is paused")
    bounds: dict[str, Annotated[list[Number], Field(min_length=2, max_length=2)]] | None = Field(
        None, description="least and largest share of arms in the policy's decisions"
    )
    suspended: list[Text | StrictInt] | None = None
    guardrails: list[dict[str, Any]] | None = Field(None, description='[{"kind": "mean", "limit": -2, "arm": "*"}]')
    webhook: Text | None = None
    why: Text | None = None


class TellBody(_Body):
    """Rewards, recorded in one commit: all or none, or independently with strict=false."""

    rewards: Annotated[list[Reward], Field(min_length=1, max_length=10_000)] = Field(
        description='[{"decision": 1, "reward": 0.012}, ...]'
    )
    strict: StrictBool = Field(True, description="all or none (the default), or each independently")


class ArmBody(ReasonBody):
    """An arm."""

    arm: Text | StrictInt = Field(description="its name, or its number in a campaign whose arms have no names")


Arm = str | int


def _answer(name: str, words: str, /, base: Any = None, **fields: Any) -> Any:
    """The model of an answer: the fields of a dataclass of the library, and others. All are always there."""
    types = get_type_hints(base) if base is not None else {}
    named = {
        key: Arm | list[Arm] | None if key == "best" else Arm | None if kind is Any else kind
        for key, kind in types.items()
    }
    every = {**named, **fields}
    return create_model(name, __doc__=words, **{key: (kind, ...) for key, kind in every.items()})  # type: ignore[call-overload]


DecisionModel = _answer("Decision", "An arm that was handed out.", Decision, arm=Arm)


Decisions = _answer(
    "Decisions", "Decisions; ``next`` is where the next page begins, if there is one.", decisions=list[DecisionModel],
    next=int | None,
)  # fmt: skip
Problem = _answer("Problem", "RFC 9457 problem details.", type=str, title=str, status=int, detail=str)
Refusal = _answer("Refusal", "A reward that was refused.", place=int, decision=int | str, problem=Problem)
Weight = _answer("Weight", "The weight of an arm.", arm=Arm, weight=float)
_ArmStatus = _answer("ArmStatus", "The state of an arm.", ArmStatus, arm=Arm)
_Leader = _answer("Leader", "The leading arm, its rival, and its lead.", Leader)
_LogEntry = _answer("LogEntry", "An event of a campaign.", LogEntry)
_RulesNow = _answer("RulesNow", "What a campaign goes by now.", Rules, suspended=list[Arm])
Told = _answer("Told", "How many rewards were recorded, and which were refused.", recorded=int, refused=list[Refusal])
_Entry = _answer("CampaignEntry", "A campaign in a list.", Entry)
Campaigns = _answer("Campaigns", "A page of campaigns.", campaigns=list[_Entry], next=str | None)
Created = _answer("Created", "A campaign.", name=str, settings=dict[str, Any], arms=list[Arm])
Recommendation = _answer("Recommendation", "The best arm, or arms.", recommendation=Arm | list[Arm] | None)
Weights = _answer("Weights", "Weights of arms.", weights=list[Weight])
RulesAnswer = _answer("RulesAnswer", "The rules of a campaign, as they are now.", rules=_RulesNow)
Numbers = _answer("Numbers", "Numbers of decisions by key.", numbers=dict[str, int])
Log = _answer("Log", "Entries of the log.", entries=list[_LogEntry])
Verified = _answer("Verified", "A verification.", Verification, ok=bool)
AgentState = _answer("AgentState", "An agent, as JSON in a text.", agent=str)
Verdict = _answer("Verdict", "What to do now.", verdict=str, number=str, next=str, state=Literal["act", "early"])
_parts: dict[str, Any] = {"leader": _Leader, "rules": _RulesNow}
StatusModel = _answer(
    "Status", "The state of a campaign.", Status, arms=list[_ArmStatus], settings=dict[str, Any], **_parts
)
EvaluationModel = _answer("Evaluation", "What another policy would have earned.", Evaluation, sentence=str)
