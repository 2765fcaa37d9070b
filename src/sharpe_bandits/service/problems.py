"""Conversion between errors of the library and RFC 9457 problem details, with the library's own messages."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..errors import SharpeBanditsError, StoreError, WaitForRewardsError


class ScopeError(errors.InvalidInputError):
    """The token does not have the scope that a request needs."""


#: Media type of problem details.
MEDIA_TYPE = "application/problem+json"
#: Prefix of problem types.
_PREFIX = "urn:sharpe-bandits:problem:"
#: Errors of the library with their type and status; the first match counts.
_ERRORS: list[tuple[type[SharpeBanditsError], str, int]] = [
    (WaitForRewardsError, "wait-for-rewards", 425),
    (errors.CampaignOverError, "campaign-over", 409),
    (errors.CampaignPausedError, "campaign-paused", 409),
    (errors.ConflictError, "conflict", 409),
    (errors.UnknownNameError, "unknown-name", 404),
    (errors.BudgetTooSmallError, "budget-too-small", 422),
    (ScopeError, "scope", 403),
    (errors.InvalidInputError, "invalid-input", 422),
    (StoreError, "store-unavailable", 503),
    (errors.UnreadableDataError, "unreadable-data", 500),
    (errors.MissingLibraryError, "missing-library", 500),
    (SharpeBanditsError, "refused", 422),
]
#: Statuses of requests that may be repeated, after a second.
REPEATABLE = (425, 429, 503)


def problem(status: int, kind: str, detail: str) -> dict[str, Any]:
    """A problem as plain data."""
    return {"type": _PREFIX + kind, "title": kind.replace("-", " "), "status": status, "detail": detail}


def problem_of(error: SharpeBanditsError) -> dict[str, Any]:
    """The problem details of an error of the library."""
    kind, status = next((kind, status) for cls, kind, status in _ERRORS if isinstance(error, cls))
    content = problem(status, kind, str(error))
    if isinstance(error, WaitForRewardsError):  # arms may be numbers, which cannot be names in JSON
        content["arms"] = [{"arm": arm, "rewards": count} for arm, count in error.arms.items()]
    return content


def error_of(content: Any, status: int) -> SharpeBanditsError:
    """The error for problem details; a generic one if they cannot be read."""
    if not isinstance(content, dict) or not isinstance(content.get("detail"), str):
        return StoreError(f"the service answered with status {status} and no explanation; check its address")
    detail, kind = content["detail"], str(content.get("type", "")).removeprefix(_PREFIX)
    if kind == "wait-for-rewards":
        return WaitForRewardsError(detail, {item["arm"]: item["rewards"] for item in content.get("arms", [])})
    by_name: dict[str, type[SharpeBanditsError]] = {name: cls for cls, name, _ in _ERRORS}
    return by_name.get(kind, StoreError if status >= 500 else errors.InvalidInputError)(detail)
