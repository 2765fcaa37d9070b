"""Signed exports: a campaign's whole log as a file that a third party can check without the store.

The file is JSON: the name and the settings of the campaign, its events with the decisions that they made, and an
Ed25519 signature of everything else. Checking it needs the signer's public key, and recomputes the hash chain.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from ..._support.files import from_json
from ...errors import InvalidInputError, UnreadableDataError, require
from .records import DecisionRow, Event, EventKind, Verification
from .storage import CampaignRow, Records
from .verification import first_hash, next_hash

_KIND, _FORMAT = "sharpe-bandits campaign", 1


def export(campaign: CampaignRow, records: Records, private_key: bytes) -> bytes:
    """The log of a campaign, signed."""
    require("cryptography", "signed exports", "live")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(private_key, None)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"the key is not a private key in PEM form without a password: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidInputError("the key is not an Ed25519 key; make one with: openssl genpkey -algorithm ed25519")
    head = records.head()
    content = {
        "kind": _KIND,
        "format": _FORMAT,
        "name": campaign.name,
        "settings": campaign.settings,
        "created": campaign.created,
        "hash": head.hash,
        "events": [list(event) for event in records.events(0, head.events)],
        "decisions": [list(row) for row in records.history(1, None)],
    }
    signature = base64.b64encode(key.sign(_signed_bytes(content))).decode()
    return json.dumps({**content, "signature": signature}, allow_nan=False).encode()


def check_export(content: bytes, public_key: bytes) -> Verification:
    """Check the signature and the hash chain of an export.

    Parameters
    ----------
    content : the file
    public_key : the signer's public key, as PEM
    """
    require("cryptography", "signed exports", "live")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(public_key)
    except ValueError as error:
        raise InvalidInputError(f"the public key is not one in PEM form: {error}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InvalidInputError("the public key is not an Ed25519 key")
    export = from_json(content, "the export")
    if not isinstance(export, dict) or export.get("kind") != _KIND or export.get("format") != _FORMAT:
        raise UnreadableDataError("the file is not a signed export of this release")
    result = Verification()
    try:
        key.verify(base64.b64decode(str(export.pop("signature", ""))), _signed_bytes(export))
    except (InvalidSignature, ValueError):
        result.add("the signature is not that of this key and this content")
    try:
        _check_chain(export, result)
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableDataError(f"the export is damaged: {error!r}") from None
    return result


def _check_chain(export: dict[str, Any], result: Verification) -> None:
    rows = map(DecisionRow._make, export["decisions"])
    first = last_hash = first_hash(export["name"], export["settings"])
    for event in map(Event._make, export["events"]):
        row = next(rows, None) if event.kind == EventKind.ASKED else None
        result.events += 1
        result.decisions += row is not None
        last_hash = next_hash(last_hash, event, row, result)
        if event.hash != last_hash:
            return
    if (export["hash"] or first) != last_hash:
        result.add("the hash of the last event is not that of the campaign")


def _signed_bytes(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
