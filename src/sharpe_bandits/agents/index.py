"""Agents of index policies, including those that forget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from ..engine.compiler import specialise
from ..engine.families.index import IndexFamily, check_index, index_failed, kept_by, policy_bindings
from ..errors import InvalidInputError
from ..kernels import formulas, index_play, round_by_round
from ..kernels.statistics import FIRSTS, PAIRS, STATISTICS, Sums, anchor_of
from ..objectives import Mean
from ..policies.base import EVERYTHING, IndexPolicy
from ..validation import whole
from .base import Agent
from .record import TINY, check_sums, mean_and_variance
from .state import damaged

#: Number of draws that estimate choice probabilities: their standard errors are at most 0.031.
DRAWS = 256
#: Maximum number of rewards that an agent with a window stores (window times arms).
_MAX_ROOM = 5 * 10**7


def index_agent(policy: IndexPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> Agent:
    """The agent of an index policy, whether it forgets or not."""
    kind = IndexAgent if policy.memory == EVERYTHING else ForgetfulAgent
    return kind(policy, arms, horizon, seed)


class IndexAgent(Agent):
    """An agent of an index policy."""

    def __init__(self, policy: IndexPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        if policy.needs_horizon and horizon is None:
            raise InvalidInputError(f"{policy.name} needs to know the number of rounds; pass horizon=...")
        self._rule = policy
        k = len(self.arms)
        self._pilot = policy.pilot(self.horizon, k)
        self._out = np.zeros(k)
        self._arguments: tuple[Any, ...] | None = None
        self._room = 0
        check_index(policy, horizon or 1000, 0.0)
        goal = policy.goal or Mean()
        bindings = policy_bindings(policy, horizon)
        bindings[formulas.value] = goal.formula
        self._bindings = bindings
        self._random = IndexFamily().is_random(policy)
        self._take = bindings[formulas.take]
        #: Cells that statistics keep of each arm, and their positions.
        cells, self._places, _ = kept_by(policy)
        self._kept = np.zeros((k, cells, 1))

    # Kernels are compiled when first needed, so that inspecting an agent does not wait for the compiler.

    @cached_property
    def _chosen(self) -> Any:
        return specialise(index_play.choose, self._bindings)

    @cached_property
    def _counted(self) -> Any:
        return specialise(index_play.count_choices, self._bindings)

    @property
    def _firsts(self) -> np.ndarray:
        """The first rewards of each arm minus its anchor, kept for a policy that reweights them."""
        place = self._places["drawn_mean"]
        return self._kept[:, place : place + FIRSTS, 0]

    @property
    def _pairs(self) -> np.ndarray:
        """The components of each arm's autocovariance, kept for a policy that uses it."""
        place = self._places["autocovariance"]
        return self._kept[:, place : place + PAIRS, 0]

    def _as_they_are(self) -> Iterator[tuple[str, np.ndarray]]:
        """Cells of statistics that are saved unchanged, by the first field of each statistic."""
        for statistic in STATISTICS:
            name = statistic.fields[0]
            if statistic.cells and name in self._places and name not in ("maximum", "drawn_mean", "autocovariance"):
                yield name, self._kept[:, self._places[name] : self._places[name] + statistic.cells, 0]

    def prepare(self) -> None:
        with self._lock, suppress(InvalidInputError):  # an index that is NaN is reported by ask
            self._evaluate(self._choice)
            if self._random:
                self._evaluate(self._count_into(np.zeros(len(self.arms))))

    def _choice(self, position: index_play.Position) -> int:
        return int(self._chosen(position, np.uint64(self.seed), 0, *self._outputs()))

    def _count_into(self, shares: np.ndarray) -> Callable[[index_play.Position], int]:
        return lambda position: self._counted(DRAWS, position, np.uint64(self.seed), *self._outputs(), shares)

    def _choose(self) -> int:
        served = np.where(self._active, self._pulls + self._pending, math.inf)
        least = int(np.argmin(served))
        if served[least] < self._pilot:
            return least
        return self._evaluate(self._choice)

    def _shares(self, first: int) -> np.ndarray:
        if not self._random or np.where(self._active, self._pulls + self._pending, math.inf).min() < self._pilot:
            return super()._shares(first)
        shares = np.zeros(len(self.arms))
        self._evaluate(self._count_into(shares))
        return shares / DRAWS

    def _evaluate(self, choose: Callable[[index_play.Position], int]) -> int:
        """Call a compiled function with the current position."""
        t = self.t + self._n_pending
        last = np.where(self._pending > 0, t, np.maximum(self._last, self._pilot * len(self.arms)))
        pending = index_play.Pending(self._pending, self._active, 0.0 if self._random else 1.0, self.asked)
        rounds, sums = self._seen(pending)
        position = index_play.Position(t, rounds, sums, pending, self._rule.least_pilot, last, self._kept)
        try:
            choice = choose(position)
        except Exception as error:
            raise index_failed(self.policy, error) from None
        if choice < 0:
            i = -1 - choice
            mean, variance = self._estimate(i)
            raise InvalidInputError(
                f"the index of {self.policy.name} is not a number for arm {self.arms[i]!r} (pulls {self._pulls[i]:g}, "
                f"mean {mean!r}, variance {variance!r}) after {self.t} rounds"
            )
        return int(choice)

    def _seen(self, pending: index_play.Pending) -> tuple[float, Sums]:
        """The number of rounds for the confidence radius, and the sums that estimates are computed from."""
        return self.t + self._n_pending, self._sums()

    def _outputs(self) -> tuple[Any, ...]:
        return self._formula_arguments(), self._out

    def _check_arms_may_change(self, count: int) -> None:
        if self.horizon is not None:
            self._rule.check_horizon(self.horizon, count)

    def _grow(self) -> None:
        super()._grow()
        k = len(self.arms)
        self._pilot = self._rule.pilot(self.horizon, k)
        self._out = np.zeros(k)
        self._kept = np.concatenate([self._kept, np.zeros((1, *self._kept.shape[1:]))])

    def _formula_arguments(self) -> tuple[Any, ...]:
        rounds = self.t + self._n_pending
        if self._arguments is None or rounds > self._room:
            # Tables by pulls grow with the game; only a formula that needs the horizon gets the full one.
            self._room = max(1024, 2 * rounds)
            if self.horizon is not None:
                self._room = self.horizon if self._rule.needs_horizon else min(self._room, self.horizon)
            self._arguments = self._rule.arguments(self._room)
        return self._arguments

    def _after(self, i: int, x: float, d: float) -> None:
        self._take(self._kept, i, 0, 0, self._pulls[i], x, d)

    def _more(self) -> dict[str, Any]:
        more: dict[str, Any] = {name: cells.tolist() for name, cells in self._as_they_are()}
        if "autocovariance" in self._places:
            more["pairs"] = self._pairs.tolist()
        if "drawn_mean" in self._places:
            kept = np.minimum(self._pulls, FIRSTS).astype(int)
            more["firsts"] = [row[:n].tolist() for row, n in zip(self._firsts, kept, strict=True)]
        return more

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        if "maximum" in self._places:
            self._kept[:, self._places["maximum"], 0] = np.where(self._pulls > 0, self._maximum, 0.0)
        for name, cells in self._as_they_are():
            saved = np.array(state[name], float)
            if saved.shape != cells.shape or not np.isfinite(saved).all() or saved[self._pulls == 0].any():
                raise damaged(f"its {name} does not fit its arms")
            cells[:] = saved
        if "autocovariance" in self._places:
            self._restore_pairs(np.array(state["pairs"], float))
        if "drawn_mean" not in self._places:
            return
        if len(state["firsts"]) != len(self.arms):
            raise damaged("its first rewards do not fit its arms")
        for i, row in enumerate(state["firsts"]):
            values = np.array(row, float)
            if values.shape != (min(int(self._pulls[i]), FIRSTS),) or not np.isfinite(values).all():
                raise damaged("its first rewards do not fit its pulls")
            self._firsts[i, : values.size] = values
        self._check_firsts()

    def _restore_pairs(self, pairs: np.ndarray) -> None:
        if pairs.shape != self._pairs.shape or not np.isfinite(pairs).all():
            raise damaged("its neighbouring rewards do not fit its arms")
        products, first, last = pairs.T
        slack, top = 1 + 1e-9, self._maximum - self._anchor
        once = self._pulls == 1
        if (
            (pairs[self._pulls == 0] != 0).any()
            or (np.abs(products) > self._sum2 * slack + TINY).any()  # Cauchy-Schwarz
            or (np.maximum(first * first, last * last) > self._sum2 * slack + TINY).any()
            or (np.maximum(first, last)[self._pulls > 0] > top[self._pulls > 0]).any()
            or (products[once] != 0).any()
            or (np.array([first, last])[:, once] != self._sum1[once]).any()
        ):
            raise damaged("its neighbouring rewards do not fit its sums")
        self._pairs[:] = pairs

    def _check_firsts(self) -> None:
        """Raise if the first rewards are inconsistent with the sums."""
        d, top = self._firsts, self._maximum - self._anchor
        known, unplayed = self._pulls <= FIRSTS, self._pulls == 0
        fits = np.where(self._anchor == 0, [anchor_of(x) == 0 for x in d[:, 0].tolist()], d[:, 0] == 0)
        powers = [d, d * d, d * d * d, d * d * d * d]
        for power, total in zip(powers, (self._sum1, self._sum2, self._sum3, self._sum4), strict=True):
            fits &= ~known | (np.cumsum(power, axis=1)[:, -1] == total)  # added in the same order
        fits &= known | (((d * d).sum(axis=1) <= self._sum2 * (1 + 1e-9)) & (d.max(axis=1) <= top))
        largest = np.where(np.arange(FIRSTS) < self._pulls[:, None], d, -math.inf).max(axis=1)
        fits &= ~known | unplayed | (largest == top)
        if not fits.all():
            raise damaged("its first rewards do not fit its sums")

    def _recommend(self) -> Any:
        return self.arms[self._best([i for i in range(len(self.arms)) if self._pulls[i] >= 2])]


class ForgetfulAgent(IndexAgent):
    """An agent of an index policy that forgets: with a window, or with a discount."""

    def __init__(self, policy: IndexPolicy, arms: int | Iterable[str], horizon: int | None, seed: int) -> None:
        super().__init__(policy, arms, horizon, seed)
        k = len(self.arms)
        policy.check_horizon(self.horizon or self._pilot * k, k)
        self._window, self._discount = policy.memory
        if self._window * k > _MAX_ROOM:
            raise _too_wide(self._window, k)
        self._forgets = round_by_round.Memory(self._window, self._discount, policy.least_pilot)
        self._memory = np.zeros((round_by_round.ROWS, k))
        #: The anchors of the remembered sums, which follow arms that drift.
        self._base = np.zeros(k)
        #: Rewards minus their bases by round (modulo the window) and arm; NaN where none was seen. It grows up to the
        #: window.
        self._ring = np.full((min(max(self._window, 1), 64), k), np.nan)
        self._rounds_with = specialise(round_by_round.rounds_with, {})
        self._forget = specialise(round_by_round.forget, {})

    def prepare(self) -> None:
        super().prepare()
        with self._lock:
            record = self._memory.copy(), self._ring.copy(), self._base.copy()
            self._forget(*record, max(self.t - 1, 0), self._window, self._discount)

    def _seen(self, pending: index_play.Pending) -> tuple[float, Sums]:
        return self._rounds_with(self.t, self._memory, self._forgets, pending), self._sums()

    def _sums(self) -> Sums:
        weight, sum1, sum2, sum3, sum4 = self._memory
        return Sums(weight, sum1, sum2, sum3, sum4, self._base)

    def _check_arms_may_change(self, count: int) -> None:
        self._rule.check_horizon(self.horizon or self._pilot * count, count)
        if self._window * count > _MAX_ROOM:
            raise _too_wide(self._window, count)

    def _grow(self) -> None:
        super()._grow()
        self._memory = np.concatenate([self._memory, np.zeros((round_by_round.ROWS, 1))], axis=1)
        self._base = np.append(self._base, 0.0)
        self._ring = np.concatenate([self._ring, np.full((len(self._ring), 1), np.nan)], axis=1)

    def _after(self, i: int, x: float, d: float) -> None:
        super()._after(i, x, d)
        self._forget(self._memory, self._ring, self._base, self.t - 1, self._window, self._discount)
        if self._pulls[i] == 1:
            self._base[i] = self._anchor[i]
        round_by_round.add(self._memory, i, x - self._base[i], 1.0)
        if self._window:
            slot = (self.t - 1) % self._window
            self._make_room(slot + 1)
            self._ring[slot, i] = x - self._base[i]

    def _make_room(self, slots: int) -> None:
        have, k = self._ring.shape
        if slots > have:
            more = np.full((min(self._window, max(slots, 2 * have)) - have, k), np.nan)
            self._ring = np.concatenate([self._ring, more])

    def _estimate(self, i: int) -> tuple[float, float]:
        weight, sum1, sum2 = self._memory[: round_by_round.SUM3, i]
        return mean_and_variance(weight, self._base[i], sum1, sum2)

    def _recommend(self) -> Any:
        weight = self._memory[round_by_round.WEIGHT]
        return self.arms[self._best([i for i in range(len(self.arms)) if weight[i] > 1])]

    def _more(self) -> dict[str, Any]:
        seen = np.argwhere(~np.isnan(self._ring))
        ring = [[int(slot), int(i), float(self._ring[slot, i])] for slot, i in seen]
        return {**super()._more(), "memory": self._memory.tolist(), "base": self._base.tolist(), "ring": ring}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        memory, base = np.array(state["memory"], float), np.array(state["base"], float)
        fits = memory.shape == self._memory.shape and base.shape == self._base.shape
        if not (fits and np.isfinite(memory).all() and np.isfinite(base).all()):
            raise damaged("what it remembers does not fit its arms")
        self._memory, self._base = memory, base
        remembered = min(self.t, self._window)
        if len(state["ring"]) != remembered:
            raise damaged(f"it must hold the last {remembered} rewards")
        self._make_room(remembered)
        for slot, i, d in state["ring"]:
            self._ring[whole("slot", slot, 0, remembered - 1), whole("arm", i, 0, len(self.arms) - 1)] = d
        self._check_memory()

    def _check_memory(self) -> None:
        """Raise if the memory is inconsistent with the rewards seen."""
        weight, *sums = self._memory
        played, age = self._pulls > 0, self.t - self._last
        # No reward was further from its base than this; rounding errors of sums are in units of its powers.
        far = np.sqrt(np.sqrt(self._sum4)) + np.abs(self._base - self._anchor)
        if (weight[~played] != 0).any() or (self._base[~played] != 0).any():
            raise damaged("it remembers rewards of an arm that was never played")
        if self._window:
            seen = ~np.isnan(self._ring)
            count = seen.sum(axis=0)
            newest = np.where(count > 0, (self._last - 1) % self._window, 0).astype(int)
            ages = (self.t - 1 - np.arange(len(self._ring))) % self._window  # of the reward in each slot, in rounds
            youngest = np.where(seen, ages[:, None], self._window).min(axis=0)
            rounding = [8e-16 * self._window**2 * far**k + 1e-150 for k in range(1, 5)]
            kept = np.where(seen, self._ring, 0.0)
            if (
                (seen.sum(axis=1)[: min(self.t, self._window)] != 1).any()
                or (weight != count).any()
                or (count > self._pulls).any()
                or ((count > 0) != (played & (age < self._window))).any()
                or (youngest[count > 0] != age[count > 0]).any()
                or not seen[newest, np.arange(len(count))][count > 0].all()
                or (np.abs(kept).max(axis=0, initial=0.0) > far * (1 + 1e-9) + 1e-150).any()
                or any(
                    (np.abs((kept**k).sum(axis=0) - total) > off).any()
                    for k, (total, off) in enumerate(zip(sums, rounding, strict=True), start=1)
                )
            ):
                raise damaged("the rewards in its window do not fit its sums")
            return
        gamma, held = self._discount, np.where(played, self._discount**age, 0.0)
        upto = held * (1 - gamma**self._pulls) / (1 - gamma)
        all_rounds = (1 - gamma**self.t) / (1 - gamma)
        slack = 1e-6 + 64 * 2.3e-16 / (1 - gamma)
        if (
            (weight < held * (1 - slack) - 1e-300).any()
            or (weight > upto * (1 + slack) + 1e-300).any()
            or abs(weight.sum() - all_rounds) > slack * all_rounds
        ):
            raise damaged("the weights of what it remembers do not fit its pulls")
        check_sums(weight, np.array(sums), "discounted rewards", [slack * weight * far**k for k in range(1, 5)])


def _too_wide(window: int, arms: int) -> InvalidInputError:
    return InvalidInputError(
        f"a window of {window} rounds of {arms} arms is {window * arms} rewards, and an agent stores at most "
        f"{_MAX_ROOM}; shorten the window or use DiscountedUCB"
    )
