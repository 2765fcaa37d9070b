"""What a simulation leaves: plain arrays per policy, merged from chunks, and how they are kept on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .engine.work import FORMAT, Chunk, Work
from .errors import InvalidInput, UnreadableData
from .objectives import Objective, objective_from_dict
from .seals import seal

_MANIFEST = "manifest.json"
_KIND = "sharpe-bandits study"


@dataclass
class Outcome:
    """All runs of one policy.

    Attributes
    ----------
    name, policy : its name and its description as plain data
    goal : the policy's own objective, if it has one
    checkpoints : rounds at which pulls are known
    batch : runs per batch
    pulls : (batches, checkpoints, arms), added over the runs of a batch
    final : (runs, arms) pulls at the horizon
    recommended : (runs, m), in order of arm; m = 1 unless the policy looks for several
    reward_mean, reward_variance : (runs,) of the sequence of rewards
    switches : checkpoints after which the arms changed
    """

    name: str
    policy: dict[str, Any]
    goal: Objective | None
    checkpoints: np.ndarray
    batch: int
    pulls: np.ndarray
    final: np.ndarray
    recommended: np.ndarray
    reward_mean: np.ndarray
    reward_variance: np.ndarray
    switches: tuple[int, ...] = ()

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.recommended)

    @property
    def batch_sizes(self) -> np.ndarray:
        """Runs in each batch; the last may be smaller."""
        return np.diff(np.minimum(np.arange(len(self.pulls) + 1) * self.batch, self.runs))


def merge(work: Work, chunks: Iterable[Chunk]) -> Outcome:
    """One outcome from chunks that cover all runs of a work, in any order."""
    ordered = sorted(chunks, key=lambda chunk: chunk.first)
    covered = 0
    for chunk in ordered:
        if chunk.first != covered:
            raise InvalidInput(f"the chunks do not cover the runs: run {covered} is missing or twice there")
        covered += chunk.runs
    if covered != work.runs:
        raise InvalidInput(f"the chunks hold {covered} runs, not {work.runs}")
    batches = -(-work.runs // work.batch)
    pulls = np.zeros((batches, len(work.checkpoints), work.environment.K), np.int64)
    for chunk in ordered:
        pulls[chunk.first_batch : chunk.first_batch + len(chunk.pulls)] += chunk.pulls

    def joined(field: str) -> np.ndarray:
        return np.concatenate([getattr(chunk, field) for chunk in ordered])

    return Outcome(
        work.policy.name,
        work.policy.to_dict(),
        work.policy.goal,
        np.array(work.checkpoints, np.int64),
        work.batch,
        pulls,
        joined("final"),
        joined("recommended"),
        joined("reward_mean"),
        joined("reward_variance"),
        work.environment.switches,
    )


@dataclass
class Record:
    """A whole study as data: outcomes, the truth they are judged by, and the settings that made them."""

    outcomes: dict[str, Outcome]
    mean: np.ndarray  # true means: a row for all, or one per run, or one per stretch between switches
    variance: np.ndarray
    settings: dict[str, Any]


def versions() -> dict[str, str]:
    """Versions of what results depend on."""
    import platform
    from importlib.metadata import version

    from . import __version__

    found = {name: version(name) for name in ("numpy", "numba", "scipy", "pyarrow")}
    return {"sharpe-bandits": __version__, "python": platform.python_version(), **found}


def save(record: Record, folder: str | os.PathLike[str]) -> None:
    """Write a record as Parquet files and a JSON manifest; an earlier study there is replaced at the very end."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    old = _referenced(path)
    files: dict[str, str] = {}
    policies = []
    for number, outcome in enumerate(record.outcomes.values()):
        batch, check, arm = (axis.ravel() for axis in np.indices(outcome.pulls.shape))
        pulls = _write(
            path,
            f"pulls-{number}",
            {"batch": batch, "t": outcome.checkpoints[check], "arm": arm, "pulls": outcome.pulls.ravel()},
            files,
        )
        per_run = {
            "run": np.arange(outcome.runs),
            **{_recommended(j, outcome.recommended.shape[1]): column for j, column in enumerate(outcome.recommended.T)},
            "reward_mean": outcome.reward_mean,
            "reward_variance": outcome.reward_variance,
            **{f"pulls_{i}": outcome.final[:, i] for i in range(outcome.final.shape[1])},
        }
        policies.append(
            {
                "name": outcome.name,
                "policy": _plain(outcome.policy),
                "goal": None if outcome.goal is None else outcome.goal.to_dict(),
                "batch": outcome.batch,
                "pulls": pulls,
                "runs": _write(path, f"runs-{number}", per_run, files),
            }
        )
    rows, arms = (axis.ravel() for axis in np.indices(record.mean.shape))
    truth = {"row": rows, "arm": arms, "mean": record.mean.ravel(), "variance": record.variance.ravel()}
    manifest = {
        "kind": _KIND,
        "format": FORMAT,
        "settings": _plain(record.settings),
        "versions": versions(),
        "checkpoints": next(iter(record.outcomes.values())).checkpoints.tolist(),
        "switches": list(next(iter(record.outcomes.values())).switches),
        "policies": policies,
        "truth": _write(path, "truth", truth, files),
        "sha256": files,
    }
    manifest["seal"] = seal(manifest)
    temporary = path / f".{_MANIFEST}.new"
    temporary.write_text(json.dumps(manifest, indent=1), "utf-8")
    os.replace(temporary, path / _MANIFEST)
    for name in old - set(files):
        (path / name).unlink(missing_ok=True)


def load(folder: str | os.PathLike[str]) -> Record:
    """Read what :func:`save` wrote; whatever does not fit is reported, never guessed."""
    path = Path(folder)
    try:
        manifest = json.loads((path / _MANIFEST).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableData(f"there is no study in {path}: {_MANIFEST} is missing") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise UnreadableData(f"{path / _MANIFEST} is not a manifest of this library: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != _KIND:
        raise UnreadableData(f"{path / _MANIFEST} belongs to something else, not to a study of this library")
    if manifest.get("format") != FORMAT:
        raise UnreadableData(
            f"{path} has format {manifest.get('format')!r}, this version reads format {FORMAT}; "
            "use the version of the library named in its manifest"
        )
    if manifest.pop("seal", None) != seal(manifest):
        raise UnreadableData(f"{path / _MANIFEST} was changed after it was saved; save the study again")
    try:
        return _read(path, manifest)
    except UnreadableData:
        raise
    except Exception as error:
        raise UnreadableData(
            f"the study in {path} is damaged ({type(error).__name__}: {error}); save it again"
        ) from error


def _read(path: Path, manifest: dict[str, Any]) -> Record:
    for name, digest in manifest["sha256"].items():
        try:
            content = (path / name).read_bytes()
        except FileNotFoundError:
            raise UnreadableData(f"{path / name} is missing; save the study again") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise UnreadableData(f"{path / name} was changed or cut short after it was saved; save the study again")
    truth = _columns(path / manifest["truth"])
    arms = int(truth["arm"].max()) + 1
    checkpoints = np.array(manifest["checkpoints"], np.int64)
    outcomes = {}
    for entry in manifest["policies"]:
        runs = _columns(path / entry["runs"])
        pulls = _columns(path / entry["pulls"])["pulls"].reshape(-1, checkpoints.size, arms)
        outcomes[entry["name"]] = Outcome(
            entry["name"],
            entry["policy"],
            None if entry["goal"] is None else objective_from_dict(entry["goal"]),
            checkpoints,
            entry["batch"],
            pulls,
            np.stack([runs[f"pulls_{i}"] for i in range(arms)], axis=1),
            np.stack([column for name, column in runs.items() if name.startswith("recommended")], axis=1),
            runs["reward_mean"],
            runs["reward_variance"],
            tuple(manifest["switches"]),
        )
    shape = (-1, arms)
    return Record(outcomes, truth["mean"].reshape(shape), truth["variance"].reshape(shape), manifest["settings"])


def _write(folder: Path, stem: str, columns: dict[str, np.ndarray], files: dict[str, str]) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    digest = hashlib.sha256(content).hexdigest()
    name = f"{stem}-{digest[:12]}.parquet"
    temporary = folder / f".{name}.new"
    temporary.write_bytes(content)
    os.replace(temporary, folder / name)
    files[name] = digest
    return name


def _recommended(number: int, m: int) -> str:
    """Name of the column of a recommended arm."""
    return "recommended" if m == 1 else f"recommended_{number}"


def _columns(path: Path) -> dict[str, np.ndarray]:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def _referenced(path: Path) -> set[str]:
    """Data files of a study that is already in the folder."""
    try:
        manifest = json.loads((path / _MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        return set()
    except (ValueError, UnicodeDecodeError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("kind") != _KIND:
        raise InvalidInput(f"{path / _MANIFEST} belongs to something else; save the study to a folder of its own")
    return {name for name in manifest.get("sha256", {}) if Path(name).name == name}  # nothing outside the folder


def _plain(thing: Any) -> Any:
    """``thing`` with arrays and numpy numbers turned into what JSON has."""
    if isinstance(thing, dict):
        return {str(k): _plain(v) for k, v in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_plain(v) for v in thing]
    if isinstance(thing, (np.ndarray, np.generic)):
        return thing.tolist()
    return thing
