"""The log of a campaign is searched and turned over."""

from tests.live.campaigns.desks import make


def test_the_log_can_be_searched_and_turned_over(store):
    campaign = make(store)
    campaign.ask(keys=["order-1", "100%_sure", "other"], worker="desk 7")
    campaign.tell(2, 0.5)
    campaign.add_arm("quality")
    assert [entry.kind for entry in campaign.log()] == ["arm added", "rewarded", "asked", "asked", "asked"]
    assert [entry.seq for entry in campaign.log(count=2)] == [5, 4]
    assert [entry.seq for entry in campaign.log(count=2, before=4)] == [3, 2]
    assert [entry.seq for entry in campaign.log(search="2")] == [4, 2]
    assert [entry.key for entry in campaign.log(search="%_")] == ["100%_sure", "100%_sure"]
    assert [entry.arm for entry in campaign.log(search="MOMENT")] == ["momentum"]
    assert len(campaign.log(search="desk 7")) == 4
    assert campaign.log(search="' OR 1=1 --") == []
    assert campaign.history(first=2, count=1).column("number").to_pylist() == [2]
