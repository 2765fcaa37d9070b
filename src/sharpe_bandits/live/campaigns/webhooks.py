"""Signed messages to a webhook: what people who watch a campaign should hear of at once.

Off unless a campaign has a webhook and the environment has ``SHARPE_BANDITS_WEBHOOK_SECRET`` and
``SHARPE_BANDITS_WEBHOOK_HOSTS`` (names of allowed hosts, separated by commas). Messages go by https to a public address
(``SHARPE_BANDITS_WEBHOOK_PRIVATE=1`` allows private ones), are signed with HMAC-SHA256, and follow no redirects. Each
is delivered at least once: it is repeated until the receiver answers with a status from 200 to 299, with the same
``Idempotency-Key``.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import json
import logging
import os
import socket
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

from ...errors import InvalidInputError, StoreError, shown

logger = logging.getLogger("sharpe_bandits.campaigns")

#: Environment variables: the key of signatures, allowed hosts, and whether private addresses are allowed.
SECRET, HOSTS, PRIVATE = (f"SHARPE_BANDITS_WEBHOOK_{name}" for name in ("SECRET", "HOSTS", "PRIVATE"))
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
        raise InvalidInputError(
            f"messages to {host} are not allowed here; set {SECRET}, and add the host to {HOSTS} (now: "
            f"{', '.join(allowed) or 'none'})"
        )


def warn_unless_allowed(campaign: str, url: str) -> bool:
    """Whether this process may send messages there; if not, a warning is logged."""
    try:
        check_allowed(url)
    except InvalidInputError as error:
        logger.warning("campaign %r: %s", campaign, error)
        return False
    return True


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
    parts, secret = urlsplit(check_webhook(url)), os.environ.get(SECRET, "")
    host, port = str(parts.hostname), parts.port or 443
    check_allowed(url)
    at = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "sharpe-bandits",
        "Idempotency-Key": key,
        "Sharpe-Bandits-Signature": f"t={at},v1={signature(secret, at, body)}",
    }
    connection = _Connection(host, port, _address(host, port))
    try:
        connection.request("POST", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def _address(host: str, port: int) -> str:
    """The address to connect to: checked here and used as it is, so that a second look-up cannot change it."""
    addresses = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    private = [one for one in addresses if not ipaddress.ip_address(one).is_global]
    if private and os.environ.get(PRIVATE) != "1":
        raise InvalidInputError(
            f"{host} has the private address {private[0]}; set {PRIVATE}=1 if messages may be sent there"
        )
    return addresses[0]


class _Connection(http.client.HTTPSConnection):
    """A connection to an address that was checked, with the certificate of its host."""

    def __init__(self, host: str, port: int, address: str) -> None:
        self._context = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
        super().__init__(host, port, timeout=_TIMEOUT, context=self._context)
        self._address = address

    def connect(self) -> None:
        plain = socket.create_connection((self._address, self.port), _TIMEOUT)
        try:
            self.sock = self._context.wrap_socket(plain, server_hostname=self.host)
        except BaseException:
            plain.close()
            raise
