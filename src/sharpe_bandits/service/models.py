"""Models of request bodies. The library itself validates values, with messages that name the remedy."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, create_model

from ..live.campaigns.records import DecisionState
from ..live.campaigns.settings import optional_settings

#: A reward, or another number.
Number = StrictInt | StrictFloat
Count = Annotated[StrictInt, Field(ge=1, le=10_000)]
#: Names are validated by the library; longer text is refused here.
Text = Annotated[StrictStr, Field(min_length=1, max_length=20_000)]
Which = Annotated[StrictInt, Field(ge=1, le=2**53)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", title=None)


class _NewCampaign(_Body):
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


#: The type in a request of a setting whose text on the command line has a given type.
_IN_JSON: dict[type, Any] = {int: StrictInt, float: Number, str: Text | Number}
NewCampaign: Any = create_model(
    "NewCampaign",
    __base__=_NewCampaign,
    __doc__=_NewCampaign.__doc__,
    **{
        name: (_IN_JSON[setting.metadata["kind"]] | None, Field(None, description=setting.metadata["help"]))
        for name, setting in optional_settings().items()
    },
)  # type: ignore[call-overload]


class AskBody(_Body):
    """A request for decisions: one, one per key, or ``count`` of them."""

    key: Text | None = Field(None, description="idempotency key: the same key returns the same decision")
    keys: Annotated[list[Text | None], Field(min_length=1, max_length=10_000)] | None = Field(
        None, description="a decision per key; null for one without"
    )
    count: Count | None = Field(None, description="number of decisions, without keys")
    worker: Text | None = Field(None, description="who asks; by default the name of the token")


class Reward(_Body):
    """The reward of a decision."""

    decision: Which
    reward: Number


class TellBody(_Body):
    """Rewards, recorded in one commit: all or none, or independently with strict=false."""

    rewards: Annotated[list[Reward], Field(min_length=1, max_length=10_000)] = Field(
        description='[{"decision": 1, "reward": 0.012}, ...]'
    )
    strict: StrictBool = Field(True, description="all or none (the default), or each independently")


class ArmBody(_Body):
    """An arm."""

    arm: Text | StrictInt = Field(description="its name, or its number in a campaign whose arms have no names")


class DecisionModel(BaseModel):
    """An arm that was handed out; times in ISO 8601, UTC."""

    number: int
    arm: str | int
    asked: str
    expires: str | None
    probability: float | None
    key: str | None
    worker: str | None
    state: DecisionState
    reward: float | None
    told: str | None


class Decisions(BaseModel):
    """Decisions; ``next`` is where the next page begins, if there is one."""

    decisions: list[DecisionModel]
    next: int | None = None


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
