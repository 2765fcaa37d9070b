"""Studies on disk: one file of NumPy arrays, ``study.npz``, with a manifest in JSON as one of them.

It is replaced atomically: readers find the old study or the new one, complete, even if several processes save to one
folder. The comment of the archive is the SHA-256 of what precedes it.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._support.files import from_json, to_json, write_atomically
from .._support.plain_data import from_plain, plain
from .._support.versions import versions
from ..errors import UnreadableDataError
from .policy_result import PolicyResult, StoppingResult

FORMAT = 1
FILE = "study.npz"
#: Arrays of the whole study, and of every policy: ``pulls_0`` are those of the first.
_COMMON = ("checkpoints", "mean", "variance")
_OWN = ("pulls", "halfway", "final", "recommended", "reward_mean", "reward_variance", "stopped")

Results = Mapping[str, PolicyResult]


def save(results: Results, settings: Mapping[str, Any], case: Mapping[str, Any], folder: Path) -> None:
    """Write a study; an existing one is replaced."""
    policies, arrays = [], {name: getattr(next(iter(results.values())), name) for name in _COMMON}
    for number, result in enumerate(results.values()):
        own = {f"{name}_{number}": getattr(result, name) for name in _OWN}
        arrays |= {name: array for name, array in own.items() if array is not None}
        entry = {name: getattr(result, name) for name in ("name", "policy", "objective", "batch")}
        policies.append({**entry, "stops": isinstance(result, StoppingResult)})
    objectives = dict.fromkeys([*(result.objective for result in results.values()), case["objective"]])
    valued = [own for own in objectives if own and own.has_feature]
    arrays |= {f"values_{number}": result.values(own) for number, own in enumerate(valued)}
    manifest = {
        "format": FORMAT, "settings": settings, "case": case, "versions": versions(), "switches": result.switches,
        "policies": policies, "valued": valued,
    }  # fmt: skip
    archive = io.BytesIO()
    np.savez_compressed(archive, manifest=np.array(to_json(plain(manifest)).decode()), **arrays)
    content = archive.getvalue()[:-2]  # it ends with the length of its comment
    digest = hashlib.sha256(content).hexdigest().encode()
    write_atomically(folder / FILE, content + len(digest).to_bytes(2, "little") + digest)


def load(folder: Path) -> tuple[dict[str, PolicyResult], dict[str, Any], dict[str, Any]]:
    """Read what :func:`save` wrote: results by name, settings, and the description of its case."""
    path = folder / FILE
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableDataError(f"there is no study in {folder}: {FILE} is missing") from None
    if hashlib.sha256(content[:-66]).hexdigest().encode() != content[-64:]:
        raise UnreadableDataError(f"{path} is no study, or was changed or truncated after it was saved; save it again")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        manifest = from_json(str(archive["manifest"]), f"the manifest of {path}", constants=True)
        if manifest["format"] != FORMAT:
            raise UnreadableDataError(
                f"{path} has format {manifest['format']}, this version reads format {FORMAT}; use the version of the "
                f"library that saved it ({manifest['versions']['sharpe-bandits']})"
            )
        arrays = dict(archive)
    values = {from_plain("objective", own): arrays[f"values_{k}"] for k, own in enumerate(manifest["valued"])}
    common: dict[str, Any] = {name: arrays[name] for name in _COMMON}
    results = {}
    for number, entry in enumerate(manifest["policies"]):
        kind = StoppingResult if entry.pop("stops") else PolicyResult
        own: dict[str, Any] = {name: arrays.get(f"{name}_{number}") for name in _OWN}
        own |= {"objective": _objective(entry.pop("objective")), "true_values": values}
        results[entry["name"]] = kind(**entry, **common, **own, switches=tuple(manifest["switches"]))
    case = manifest["case"]
    return results, manifest["settings"], {**case, "objective": _objective(case["objective"])}


def _objective(data: dict[str, Any] | None) -> Any:
    return data and from_plain("objective", data)
