"""What operators see of the service: metrics for Prometheus, and a log with one JSON object per line."""

from __future__ import annotations

import json
import logging
import random
import re
import time
from collections.abc import Iterable
from functools import cache
from types import SimpleNamespace
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from ..live.campaigns.status import Status
from ..live.campaigns.webhooks import outcomes

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUEST_ID = re.compile(rb"[\w.:-]{1,64}")

logger = logging.getLogger("sharpe_bandits.service")


class JSONFormatter(logging.Formatter):
    """A line of the log as JSON: time, level, message, and what the caller added as ``extra={"fields": ...}``."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configure_log(level: str) -> None:
    """Log to stderr as JSON, what the server and the database driver say included."""
    handler = logging.StreamHandler()
    handler.setFormatter(JSONFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # A lost connection is logged once, as the request that failed.
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)


class Observer:
    """Counts and logs requests and commits."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        prefix: dict[str, Any] = {"namespace": "sharpe_bandits", "registry": registry}
        requests = Counter("requests", "Requests", ["method", "route", "status"], **prefix)
        seconds = Histogram("request_seconds", "Duration of requests", ["route"], buckets=_SECONDS, **prefix)
        self._requests, self._seconds = cache(requests.labels), cache(seconds.labels)
        refused = "Requests that were refused before they reached a route"
        self.refused = Counter("refused", refused, ["reason"], **prefix)
        sizes = [2**k for k in range(9)]
        self.group_size = Histogram("group_size", "Requests in one commit", buckets=sizes, **prefix)
        self.commit_seconds = Histogram("commit_seconds", "Duration of commits", buckets=_SECONDS, **prefix)

    def request_id(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The id in X-Request-ID, or a new one."""
        sent = dict(headers).get(b"x-request-id", b"")
        return sent.decode("ascii") if _REQUEST_ID.fullmatch(sent) else f"{random.getrandbits(64):016x}"

    def request(self, scope: Any, status: int, seconds: float) -> None:
        """Count a request, and log it: as a warning if the service failed."""
        route = getattr(scope.get("route"), "path", "(none)")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
        self._requests(method, route, status).inc()
        self._seconds(route).observe(seconds)
        level = logging.WARNING if status >= 500 else logging.INFO
        if not logger.isEnabledFor(level):
            return
        token = scope.get("token")
        fields = {
            "request": scope["request_id"],
            "method": scope["method"],
            "path": scope.get("raw_path", b"").decode("ascii", "replace")[:200],
            "campaign": scope.get("campaign"),
            "token": token and token.name,
            "client": (scope.get("client") or ("",))[0],
            "status": status,
            "seconds": round(seconds, 6),
        }
        if problem := scope.get("problem"):
            fields["problem"] = problem
        logger.log(level, "request", extra={"fields": fields})

    def metrics(self, statuses: Iterable[Status]) -> bytes:
        """All metrics in Prometheus' text format, with those of campaigns."""
        webhooks = CounterMetricFamily("sharpe_bandits_webhooks", "Messages to webhooks", labels=["result"])
        for result, count in outcomes.items():
            webhooks.add_metric([result], count)
        gauges: Any = SimpleNamespace(collect=lambda: [webhooks, *_of_campaigns(statuses)])
        return generate_latest(self._registry) + generate_latest(gauges)


def _of_campaigns(statuses: Iterable[Status]) -> Iterable[GaugeMetricFamily]:
    described = {
        "decisions": "Decisions made",
        "rewards": "Decisions with a reward",
        "pending": "Decisions that wait for a reward",
        "expired": "Decisions whose lease ran out without a reward",
        "clock_refused": "1 while nothing is recorded, because the clock of the store went back or jumped forward",
        "broken_guardrails": "Guardrails that are broken now, counted per arm",
        "leader_share": "Share of the pulls that went to the leading arm",
        "policy_share": "Probability with which the policy decides; 0 if the campaign is paused or in shadow mode",
    }
    gauges = {
        key: GaugeMetricFamily(f"sharpe_bandits_campaign_{key}", text, labels=["campaign"])
        for key, text in described.items()
    }
    for status in statuses:
        pulls = sum(arm.pulls for arm in status.arms)
        leading = sum(arm.pulls for arm in status.arms if arm.arm == status.leader.arm)
        computed = {
            "clock_refused": float(status.clock_refusal is not None),
            "leader_share": leading / pulls if pulls else 0.0,
            "policy_share": status.rules["share"] if status.rules["mode"] == "live" else 0.0,
        }
        for key, gauge in gauges.items():
            gauge.add_metric([status.name], computed[key] if key in computed else getattr(status, key))
    return gauges.values()
