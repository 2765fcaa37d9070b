"""Requests that arrive together are committed together."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sharpe_bandits.live.campaigns import Ask

from .conftest import ARMS, POLICY


def test_requests_that_arrive_together_are_committed_together(store):
    """While one commit waits, all that comes goes into the next: far fewer commits than requests."""
    import asyncio

    from sharpe_bandits.service.state import ServiceState

    campaign = store.campaign("desks", policy=POLICY, arms=ARMS)
    state = ServiceState(store)

    async def main():
        commits, count = (await state.open("desks")).commits, 0
        inner = commits._campaign.commit

        def counted(requests):
            nonlocal count
            count += 1
            return inner(requests)

        commits._campaign.commit = counted
        made = await asyncio.gather(*(commits.do(Ask([f"k{k}"])) for k in range(200)))
        with pytest.raises(TypeError, match="not a request"):
            await asyncio.gather(commits.do("a bug"), commits.do(Ask()))
        await state.close()
        return [decision for decisions in made for decision in decisions], count

    with ThreadPoolExecutor(1) as thread:  # a browser of another test may have left a loop running in this one
        made, count = thread.submit(asyncio.run, main()).result()
    assert sorted(decision.number for decision in made) == list(range(1, 201))
    assert count < 10
    assert campaign.status().decisions == 201, "a bug in one request does not touch the others"
    assert campaign.verify(choices=True).ok
