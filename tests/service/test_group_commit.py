"""Requests that arrive together are committed together."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from .conftest import ARMS, POLICY


def test_requests_that_arrive_together_are_committed_together(store):
    """While one commit waits, all that comes goes into the next: far fewer commits than requests."""
    import asyncio

    from sharpe_bandits.service.desk import Desk

    campaign = store.campaign("desks", policy=POLICY, arms=ARMS)
    desk = Desk(store)

    async def main():
        opened = await desk.open("desks")
        commits, count = opened.commits, 0
        inner = commits.campaign.together

        def counted(operations, **more):
            nonlocal count
            count += 1
            return inner(operations, **more)

        commits.campaign.together = counted
        made = await asyncio.gather(*(commits.do(lambda k=k: commits.campaign.ask(key=f"k{k}")) for k in range(200)))
        with pytest.raises(RuntimeError, match="a bug"):
            await asyncio.gather(commits.do(_bug), commits.do(commits.campaign.ask))
        await desk.close()
        return made, count

    with ThreadPoolExecutor(1) as thread:  # a browser of another test may have left a loop running in this one
        made, count = thread.submit(asyncio.run, main()).result()
    assert sorted(decision.number for decision in made) == list(range(1, 201))
    assert count < 10
    assert campaign.status().decisions == 201, "a bug in one operation does not touch the others"
    assert campaign.verify(choices=True).ok


def _bug():
    raise RuntimeError("a bug")
