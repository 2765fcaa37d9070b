"""Signed messages to a webhook: what people who watch a campaign should hear of at once.

Off unless a campaign has a webhook and the environment has ``SHARPE_BANDITS_WEBHOOK_SECRET`` and
``SHARPE_BANDITS_WEBHOOK_HOSTS`` (names of allowed hosts, separated by commas). Messages go by https, are signed with
HMAC-SHA256, and follow no redirects. Each is delivered at least once: it is repeated until the receiver answers with a
status from 200 to 299, with the same ``Idempotency-Key``.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import os
import time
from typing import Any
from urllib.parse import urlsplit

from ...errors import InvalidInputError, StoreError, shown

logger = logging.getLogger("sharpe_bandits.campaigns")

#: Environment variables: the key of signatures, and allowed hosts.
SECRET, HOSTS = (f"SHARPE_BANDITS_WEBHOOK_{name}" for name in ("SECRET", "HOSTS"))
#: Seconds to wait for an answer; seconds before each further attempt, doubled each time; and attempts.
_TIMEOUT, _PAUSE, _ATTEMPTS = 10.0, 0.5, 5
#: How many messages this process delivered, and how many it gave up.
outcomes = {"delivered": 0, "failed": 0}


def check_webhook(url: Any) -> str:
    """The URL of a webhook, if it is one by https, without a user or a password."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        usable = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username is not None or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidInputError(f"a webhook is an address like https://alerts.example.com/campaigns, got {shown(url)}")
    return str(url)


def check_allowed(url: str) -> None:
    """Raise if this process may not send messages there."""
    host = str(urlsplit(url).hostname)
    allowed = [name.strip().lower() for name in os.environ.get(HOSTS, "").split(",") if name.strip()]
    if not os.environ.get(SECRET) or host.lower() not in allowed:
        raise InvalidInputError(f"messages to {host} are not allowed here; set {SECRET}, and add the host to {HOSTS}")


def warn_unless_allowed(url: str) -> None:
    """Log a warning if this process may not send messages there."""
    try:
        check_allowed(url)
    except InvalidInputError as error:
        logger.warning("%s", error)


def signature(secret: str, at: int, body: bytes) -> str:
    """The signature of a message: HMAC-SHA256 of the time, a dot and the body."""
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def send(url: str, key: str, message: dict[str, Any], *, attempts: int = _ATTEMPTS, pause: float = _PAUSE) -> None:
    """Deliver a message; StoreError if it could not be delivered, InvalidInputError if it may not be sent there."""
    body = json.dumps(message, allow_nan=False).encode()
    for attempt in range(attempts):
        try:
            status = _post(url, key, body)
            if 200 <= status < 300:
                outcomes["delivered"] += 1
                return
            reason = f"it answered with status {status}"
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
        if attempt + 1 < attempts:
            time.sleep(pause * 2**attempt)
    outcomes["failed"] += 1
    raise StoreError(f"the webhook {urlsplit(url).hostname} was not reached in {attempts} attempts: {reason}")


def _post(url: str, key: str, body: bytes) -> int:
    check_allowed(url)
    parts, at = urlsplit(url), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "sharpe-bandits",
        "Idempotency-Key": key,
        "Sharpe-Bandits-Signature": f"t={at},v1={signature(os.environ[SECRET], at, body)}",
    }
    connection = http.client.HTTPSConnection(str(parts.hostname), parts.port, timeout=_TIMEOUT)
    try:
        connection.request("POST", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, headers)
        return connection.getresponse().status
    finally:
        connection.close()
