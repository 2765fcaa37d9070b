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
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .checksums import checksum
from .errors import InvalidInputError, UnreadableDataError
from .files import from_json, sweep, to_json, write_atomically
from .objectives import objective_from_dict
from .results import PolicyResult, StoppingResult
from .validation import one_of, whole
from .versions import versions

FORMAT = 4
_MANIFEST = "manifest.json"
_KIND = "sharpe-bandits study"
#: Maximum number of rows of a file: a simulation never keeps more.
_MAX_ROWS = 2**29
_DATA = re.compile(r"(?:truth|pulls-\d+|runs-\d+)-[0-9a-f]{12}(?:-[0-9a-f]{8})?\.parquet")
#: A data file that no manifest names is removed after this many seconds: until then a process may be about to name it.
_ABANDONED = 3600.0

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
    current = _referenced(folder)
    for path in folder.glob("*.parquet"):
        if _DATA.fullmatch(path.name) and path.name not in current and _age(path) > _ABANDONED:
            path.unlink(missing_ok=True)


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
                "goal": None if result.goal is None else result.goal.to_dict(),
                "batch": result.batch,
                "stops": stops,
                "pulls": keep(f"pulls-{number}", pulls),
                "runs": keep(f"runs-{number}", per_run),
            }
        )
    one = next(iter(results.values()))
    rows, arms = (axis.ravel() for axis in np.indices(one.mean.shape))
    truth = {"row": rows, "arm": arms, "mean": one.mean.ravel(), "variance": one.variance.ravel()}
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
        except UnreadableDataError:
            raise
        except Exception as error:
            raise UnreadableDataError(
                f"the study in {folder} is damaged ({type(error).__name__}: {str(error)[:200]}); save it again"
            ) from error


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest in the current format."""
    path = folder / _MANIFEST
    try:
        content = path.read_bytes() if path.is_file() else None
    except FileNotFoundError:
        content = None
    if content is None:
        raise UnreadableDataError(f"there is no study in {folder}: {_MANIFEST} is missing")
    try:
        manifest = from_json(content, _MANIFEST, constants=True)
    except UnreadableDataError as error:
        raise UnreadableDataError(f"{path} is not a manifest of this library: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != _KIND:
        raise UnreadableDataError(f"{path} is not the manifest of a study of this library")
    found = manifest.get("format")
    if type(found) is not int or not (found == FORMAT or found in _UPGRADES):
        made = manifest.get("versions")
        wanted = made.get("sharpe-bandits") if isinstance(made, dict) else None
        raise UnreadableDataError(
            f"{folder} has format {str(found)[:40]}, this version reads formats {min(_UPGRADES)} to {FORMAT}; use the "
            f"version of the library named in its manifest (sharpe-bandits {str(wanted)[:40]})"
        )
    if manifest.pop("checksum" if found > 3 else "seal", None) != checksum(manifest):
        raise UnreadableDataError(f"{path} was changed after it was saved; save the study again")
    try:
        while manifest["format"] < FORMAT:
            manifest = _UPGRADES[manifest["format"]](manifest)
    except Exception as error:
        raise UnreadableDataError(
            f"the study in {folder} is damaged ({type(error).__name__}: {str(error)[:200]}); save it again"
        ) from error
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
    def read(name: Any) -> dict[str, np.ndarray]:
        return _columns(folder, name, manifest["sha256"])

    truth = read(manifest["truth"])
    arms = int(truth["arm"].max()) + 1
    rows = len(truth["arm"]) // arms
    _must(np.array_equal(truth["arm"], np.tile(np.arange(arms), rows)), "the truth is not a table of arms")
    _must(bool(np.isfinite(truth["mean"]).all() and (truth["variance"] >= 0).all()), "the truth has impossible moments")
    checkpoints = [whole("checkpoint", t, 1, 10**9) for t in manifest["checkpoints"]]
    switches = [whole("switch", t, 1, 10**9) for t in manifest["switches"]]
    _must(len(checkpoints) > 0 and sorted(set(checkpoints)) == checkpoints, "its checkpoints are not increasing")
    _must(sorted(set(switches)) == switches and set(switches) <= set(checkpoints), "its switches are not checkpoints")
    results: dict[str, PolicyResult] = {}
    for entry in manifest["policies"]:
        name, runs = entry["name"], read(entry["runs"])
        count = len(runs["run"])
        _must(isinstance(name, str) and name not in results, f"{name!r} is not a unique name")
        _must(isinstance(entry["policy"], dict), f"{name!r} has no description")
        _must(np.array_equal(runs["run"], np.arange(count)) and count > 0, f"the runs of {name!r} are not in order")
        _must(
            rows == (len(switches) + 1 if switches else 1) or (rows == count and not switches),
            "the truth does not match the runs",
        )
        recommended = [column for column in runs if column.startswith("recommended")]
        m = len(recommended)
        _must(0 < m <= arms and recommended == [_recommended(j, m) for j in range(m)], f"{name!r} recommends nothing")
        batch = whole("batch", entry["batch"], 1, count)
        shape = (-(-count // batch), len(checkpoints), arms)
        pulls = read(entry["pulls"])["pulls"].astype(np.int64)
        _must(pulls.size == shape[0] * shape[1] * shape[2], f"the pulls of {name!r} belong to another study")
        kind = StoppingResult if entry["stops"] is True else PolicyResult
        result = kind(
            name,
            entry["policy"],
            None if entry["goal"] is None else objective_from_dict(entry["goal"]),
            np.array(checkpoints, np.int64),
            batch,
            pulls.reshape(shape),
            np.stack([runs[f"halfway_{i}"] for i in range(arms)], axis=1) if "halfway_0" in runs else None,
            np.stack([runs[f"pulls_{i}"] for i in range(arms)], axis=1),
            np.stack([runs[column] for column in recommended], axis=1),
            runs["reward_mean"].astype(float),
            runs["reward_variance"].astype(float),
            runs["stopped"].astype(bool) if entry["stops"] is True else np.ones(count, bool),
            truth["mean"].astype(float).reshape(rows, arms),
            truth["variance"].astype(float).reshape(rows, arms),
            tuple(switches),
        )
        _must(
            result.final.dtype.kind == result.recommended.dtype.kind == "i", f"{name!r} has runs that are not numbers"
        )
        if result.halfway is not None:
            _must(
                result.halfway.dtype.kind == "i" and result.halfway.min() >= 0, f"{name!r} has impossible pulls halfway"
            )
            _must(bool((result.halfway <= result.final).all()), f"{name!r} has fewer pulls in the end than halfway")
        _must(
            0 <= result.recommended.min() <= result.recommended.max() < arms,
            f"{name!r} recommends arms that do not exist",
        )
        ends = np.add.reduceat(result.final.astype(np.int64), np.arange(0, count, batch), axis=0)
        _must(np.array_equal(ends, result.pulls[:, -1]), f"the pulls of {name!r} belong to another policy")
        results[name] = result
    _must(len(results) > 0, "it has no policies")
    settings = {**manifest["settings"], "arms": arms, "horizon": checkpoints[-1]}
    case = {key: manifest["case"][key] for key in ("metric", "objective", "variables", "label", "L")}
    one_of("metric", case["metric"], next(iter(results.values())).ranked_by)
    _must(isinstance(case["variables"], dict) and isinstance(case["label"], str), "its case has no description")
    _must(case["L"] is None or isinstance(case["L"], (int, float)), "its L is not a number")
    if case["objective"] is not None:
        case["objective"] = objective_from_dict(case["objective"])
    return results, settings, case


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _recommended(number: int, m: int) -> str:
    """Name of the column of a recommended arm."""
    return "recommended" if m == 1 else f"recommended_{number}"


def _columns(folder: Path, name: Any, digests: dict[str, str]) -> dict[str, np.ndarray]:
    """The columns of a data file, verified against its manifest."""
    import pyarrow.parquet as pq

    _must(
        isinstance(name, str) and _DATA.fullmatch(name) is not None,
        f"{str(name)[:60]!r} is not the name of a data file",
    )
    path = folder / name
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digests.get(name):
        raise UnreadableDataError(f"{path} was changed or truncated after it was saved; save the study again")
    file = pq.ParquetFile(io.BytesIO(content))
    _must(0 < file.metadata.num_rows <= _MAX_ROWS, f"{name} has {file.metadata.num_rows} rows")
    table = file.read()
    columns = {column: table[column].to_numpy() for column in table.column_names}
    _must(all(values.dtype.kind in "bif" for values in columns.values()), f"{name} does not hold only numbers")
    return columns


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


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
