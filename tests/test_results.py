"""What one policy did: merged from chunks in any order, and judged as brute force would judge it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.engine.spec import BATCHES, Spec, run_chunk
from tests.chunks import BANDIT, HORIZON, POLICIES, assert_same, merge


@given(st.permutations(range(7)), st.sampled_from(POLICIES))
@settings(max_examples=10)
def test_chunks_merge_in_any_order(order, policy):
    """Chunks of 3, 1, 5, ... runs that split batches, merged in any order."""
    sizes = [3, 1, 5, 2, 16, 4, 9]
    spec = Spec(policy, as_environment(BANDIT), HORIZON, sum(sizes), 5, (10, HORIZON))
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
    chunks = [run_chunk(spec, first, size) for first, size in zip(firsts, sizes, strict=True)]
    assert_same(merge(spec, [chunks[i] for i in order]), merge(spec, [run_chunk(spec, 0, sum(sizes))]))


def test_batches_of_several_runs_split_by_chunks():
    """Above 256 runs a batch holds several; chunks need not respect its bounds."""
    runs = 2 * BATCHES + 38
    spec = Spec(sb.UCBRSSR(L=2.0), as_environment(BANDIT), HORIZON, runs, 3, (6, 20, HORIZON))
    assert spec.batch == 3
    whole = merge(spec, [run_chunk(spec, 0, runs)])
    pieces = merge(spec, [run_chunk(spec, first, min(50, runs - first)) for first in range(0, runs, 50)])
    assert_same(whole, pieces)
    assert len(whole.pulls) == -(-runs // 3) == len(whole.batch_sizes)
    assert whole.batch_sizes.sum() == runs
    assert whole.batch_sizes[-1] == runs % 3 == 1


def test_missing_or_doubled_runs_are_refused():
    spec = Spec(sb.UCB1(), as_environment(BANDIT), HORIZON, 6, 3, (HORIZON,))
    parts = [run_chunk(spec, 0, 2), run_chunk(spec, 2, 2), run_chunk(spec, 4, 2)]
    assert merge(spec, parts).runs == 6
    with pytest.raises(sb.InvalidInputError, match="run 2 is missing"):
        merge(spec, [parts[0], parts[2]])
    with pytest.raises(sb.InvalidInputError, match="run 2 is missing or duplicated"):
        merge(spec, [parts[0], parts[0], parts[1]])
    with pytest.raises(sb.InvalidInputError, match="hold 4 runs, not 6"):
        merge(spec, parts[:2])
