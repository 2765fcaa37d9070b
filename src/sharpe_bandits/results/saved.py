"""Studies on disk: Parquet files and a JSON manifest that names them.

Every save uses unique file names, and the manifest is replaced at the very end: readers find either the old study or
the new one, complete, even if several processes save to one folder concurrently. Everything that is read is verified.
Studies of earlier formats can be read: :data:`_UPGRADES` converts a manifest from one format to the next.
"""

from __future__ import annotations

import hashlib
import io
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._support.checksums import checksum
from .._support.files import from_json, sweep, to_json, write_atomically
from .._support.versions import versions
from ..errors import InvalidInputError, UnreadableDataError, shown
from ..objectives import objective_from_dict
from .policy_result import PolicyResult, StoppingResult

FORMAT = 4
_MANIFEST = "manifest.json"
_KIND = "sharpe-bandits study"
_DATA = re.compile(r"(?:truth|pulls-\d+|runs-\d+)-[0-9a-f]{12}(?:-[0-9a-f]{8})?\.parquet")

Results = Mapping[str, PolicyResult]


def save(results: Results, settings: Mapping[str, Any], case: Mapping[str, Any], folder: Path) -> None:
    """Write a study; an existing one is replaced at the very end."""
    folder.mkdir(parents=True, exist_ok=True)
    old = _referenced(folder)
    sweep(folder)
    token = secrets.token_hex(4)
    files: dict[str, str] = {}
    try:
        _write(results, settings, case, folder, token, files)
    except BaseException:
        for name in files:
            (folder / name).unlink(missing_ok=True)
        raise
    for name in old:
        (folder / name).unlink(missing_ok=True)


def _write(
    results: Results,
    settings: Mapping[str, Any],
    case: Mapping[str, Any],
    folder: Path,
    token: str,
    files: dict[str, str],
) -> None:
    def keep(stem: str, columns: dict[str, np.ndarray]) -> str:
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(columns), sink, compression="zstd")
        content = bytes(sink.getvalue())
        digest = hashlib.sha256(content).hexdigest()
        name = f"{stem}-{digest[:12]}-{token}.parquet"
        files[name] = digest
        write_atomically(folder / name, content)
        return name

    policies = []
    for number, result in enumerate(results.values()):
        batch, check, arm = (axis.ravel() for axis in np.indices(result.pulls.shape))
        pulls = {"batch": batch, "t": result.checkpoints[check], "arm": arm, "pulls": result.pulls.ravel()}
        stops = isinstance(result, StoppingResult)
        per_run = {
            "run": np.arange(result.runs),
            **{_recommended(j, result.recommended.shape[1]): column for j, column in enumerate(result.recommended.T)},
            "reward_mean": result.reward_mean,
            "reward_variance": result.reward_variance,
            **({"stopped": result.stopped} if stops else {}),
            **{f"pulls_{i}": result.final[:, i] for i in range(result.final.shape[1])},
            **({} if result.halfway is None else {f"halfway_{i}": column for i, column in enumerate(result.halfway.T)}),
        }
        policies.append(
            {
                "name": result.name,
                "policy": result.policy,
                "goal": None if result.objective is None else result.objective.to_dict(),
                "batch": result.batch,
                "stops": stops,
                "pulls": keep(f"pulls-{number}", pulls),
                "runs": keep(f"runs-{number}", per_run),
            }
        )
    one = next(iter(results.values()))
    rows, arms = (axis.ravel() for axis in np.indices(one.mean.shape))
    truth = {"row": rows, "arm": arms, "mean": one.mean.ravel(), "variance": one.variance.ravel()}
    judge = None if case["objective"] is None else objective_from_dict(case["objective"])
    objectives = [*(result.objective for result in results.values()), judge]
    valued = list(dict.fromkeys(own for own in objectives if own is not None and own.has_feature))
    truth |= {f"value_{number}": one.values(own).ravel() for number, own in enumerate(valued)}
    content = to_json(
        {
            "kind": _KIND,
            "format": FORMAT,
            "settings": settings,
            "case": case,
            "versions": versions(),
            "checkpoints": one.checkpoints,
            "switches": one.switches,
            "policies": policies,
            "truth": keep("truth", truth),
            **({"valued": [own.to_dict() for own in valued]} if valued else {}),
            "sha256": files,
        }
    )
    try:
        manifest = from_json(content, "its manifest", constants=True)
    except UnreadableDataError as error:
        raise InvalidInputError(f"the study cannot be saved: {error}") from None
    write_atomically(folder / _MANIFEST, to_json({**manifest, "checksum": checksum(manifest)}))


def load(folder: Path) -> tuple[dict[str, PolicyResult], dict[str, Any], dict[str, Any]]:
    """Read what :func:`save` wrote: results by name, settings, and the description of its case."""
    while True:
        manifest = _manifest(folder)
        try:
            return _study(folder, manifest)
        except FileNotFoundError as error:
            if _manifest(folder) == manifest:  # else it was replaced meanwhile
                raise UnreadableDataError(f"{error.filename} is missing; save the study again") from None


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest in the current format."""
    path = folder / _MANIFEST
    try:
        manifest = from_json(path.read_bytes(), _MANIFEST, constants=True)
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableDataError(f"there is no study in {folder}: {_MANIFEST} is missing") from None
    except UnreadableDataError as error:
        raise UnreadableDataError(f"{path} is not a manifest of this library: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != _KIND:
        raise UnreadableDataError(f"{path} is not the manifest of a study of this library")
    number = manifest.get("format")
    if number not in (*_UPGRADES, FORMAT):
        raise UnreadableDataError(
            f"{folder} has format {shown(number)}, this version reads formats {min(_UPGRADES)} to {FORMAT}; use the "
            f"version of the library named in its manifest ({shown(manifest.get('versions'))})"
        )
    if manifest.pop("checksum" if number > 3 else "seal", None) != checksum(manifest):
        raise UnreadableDataError(f"{path} was changed after it was saved; save the study again")
    while manifest["format"] < FORMAT:
        manifest = _UPGRADES[manifest["format"]](manifest)
    return manifest


def _from_3(manifest: dict[str, Any]) -> dict[str, Any]:
    """Format 3 had only studies with a given horizon, no case of an experiment, and no pulls at half of the horizon."""
    return {
        **manifest,
        "format": 4,
        "case": {"metric": "regret", "objective": None, "variables": {}, "label": "", "L": None},
        "policies": [{**entry, "stops": False} for entry in manifest["policies"]],
    }


#: Format -> function that converts its manifest to the next one.
_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {3: _from_3}


def _study(folder: Path, manifest: dict[str, Any]) -> tuple[dict[str, PolicyResult], dict[str, Any], dict[str, Any]]:
    def read(name: str) -> dict[str, np.ndarray]:
        return _columns(folder / name, manifest["sha256"][name])

    truth = read(manifest["truth"])
    arms = int(truth["arm"].max()) + 1
    checkpoints, switches = np.array(manifest["checkpoints"], np.int64), tuple(manifest["switches"])
    true_values = {
        objective_from_dict(own): truth[f"value_{number}"].reshape(-1, arms)
        for number, own in enumerate(manifest.get("valued", ()))
    }
    results: dict[str, PolicyResult] = {}
    for entry in manifest["policies"]:
        runs = read(entry["runs"])
        count, batch = len(runs["run"]), entry["batch"]
        recommended = [column for name, column in runs.items() if name.startswith("recommended")]
        kind = StoppingResult if entry["stops"] else PolicyResult
        results[entry["name"]] = kind(
            entry["name"],
            entry["policy"],
            None if entry["goal"] is None else objective_from_dict(entry["goal"]),
            checkpoints,
            batch,
            read(entry["pulls"])["pulls"].reshape(-(-count // batch), len(checkpoints), arms),
            np.stack([runs[f"halfway_{i}"] for i in range(arms)], axis=1) if "halfway_0" in runs else None,
            np.stack([runs[f"pulls_{i}"] for i in range(arms)], axis=1),
            np.stack(recommended, axis=1),
            runs["reward_mean"],
            runs["reward_variance"],
            runs["stopped"] if entry["stops"] else np.ones(count, bool),
            truth["mean"].reshape(-1, arms),
            truth["variance"].reshape(-1, arms),
            switches,
            true_values=true_values,
        )
    settings = {**manifest["settings"], "arms": arms, "horizon": int(checkpoints[-1])}
    objective = manifest["case"]["objective"]
    case = {**manifest["case"], "objective": None if objective is None else objective_from_dict(objective)}
    return results, settings, case


def _recommended(number: int, m: int) -> str:
    """Name of the column of a recommended arm."""
    return "recommended" if m == 1 else f"recommended_{number}"


def _columns(path: Path, digest: str) -> dict[str, np.ndarray]:
    """The columns of a data file, verified against its manifest."""
    import pyarrow.parquet as pq

    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise UnreadableDataError(f"{path} was changed or truncated after it was saved; save the study again")
    table = pq.read_table(io.BytesIO(content))
    return {column: table[column].to_numpy() for column in table.column_names}


def _referenced(folder: Path) -> set[str]:
    """Data files of a study that is already in the folder."""
    path = folder / _MANIFEST
    try:
        manifest = from_json(path.read_bytes(), _MANIFEST, constants=True)
    except FileNotFoundError:
        return set()
    except UnreadableDataError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("kind") != _KIND:
        raise InvalidInputError(f"{path} does not belong to a study; save the study to another folder")
    named = manifest.get("sha256")
    return {name for name in named if _DATA.fullmatch(name)} if isinstance(named, dict) else set()
