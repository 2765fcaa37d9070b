"""Settings: one definition, and campaigns of other releases."""

import dataclasses
import inspect
import json
from typing import get_type_hints

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.settings import Options, optional_settings, policy_from_text
from tests.live.campaigns.desks import ARMS, POLICY, make


def rewrite(store, change):
    """Change the settings of the only campaign in a store."""
    with store._storage.connection() as driver:
        (text,) = driver.execute("SELECT settings FROM sharpe_bandits_campaigns").fetchone()
        driver.execute("UPDATE sharpe_bandits_campaigns SET settings = ?", (json.dumps(change(json.loads(text))),))


def without(settings, name):
    return {key: value for key, value in settings.items() if key != name}


@pytest.mark.parametrize("name", list(optional_settings()))
def test_a_campaign_created_before_a_setting_existed_has_its_default(name, file_store):
    file_store.campaign("desks", policy=POLICY, arms=ARMS)
    rewrite(file_store, lambda settings: without(settings, name))
    campaign = file_store.campaign("desks", policy=POLICY, arms=ARMS)
    setting = optional_settings()[name]
    default = setting.default if setting.default is not dataclasses.MISSING else setting.default_factory()
    assert campaign.settings[name] == default
    assert campaign.ask().number == 1
    assert campaign.verify(choices=True).ok
    assert [entry.policy for entry in file_store.campaigns()] == ["SF-UCB"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda settings: {**settings, "moods": 3}, r"'moods'.* newer release; upgrade sharpe-bandits"),
        (lambda settings: without(settings, "policy"), "damaged"),
    ],
)
def test_settings_of_a_newer_release_or_without_a_policy_are_refused(change, said, file_store):
    make(file_store)
    rewrite(file_store, change)
    with pytest.raises(sb.errors.UnreadableDataError, match=said):
        make(file_store)
    assert [entry.name for entry in file_store.campaigns()] == ["desks"]


def test_a_lease_is_a_length_of_time_or_seconds(file_store):
    for lease, seconds in (("1 day", 86400), ("86400", 86400), (" 2.5 ", 2.5), (2, 2), ("90 seconds", 90)):
        assert file_store.campaign(str(lease), policy=POLICY, arms=ARMS, lease=lease).settings["lease"] == seconds
    for lease in ("0", "1 fortnight", "s", "1e3"):
        with pytest.raises(sb.errors.InvalidInputError, match="a lease is a length of time"):
            make(file_store, lease=lease)


def test_an_unknown_setting_is_refused_with_the_nearest(file_store):
    with pytest.raises(sb.errors.UnknownNameError, match="did you mean 'horizon'"):
        make(file_store, horizont=5)
    assert file_store.campaigns() == []


def test_options_are_documented_and_typed():
    """Every setting can be given by a user, with a type, and is described where users look."""
    assert list(get_type_hints(Options)) == list(optional_settings())
    for name in optional_settings():
        assert f"``{name}``" in inspect.getdoc(sb.Store.campaign)


@pytest.mark.parametrize("text", ["UCB1", "epsilon-greedy", "SF-UCB:objective=MeanRisk"])
def test_no_regulariser_is_wanted_of_what_has_none(text):
    assert policy_from_text(text, None) == policy_from_text(text, 0.1)


@pytest.mark.parametrize("text", ["SF-UCB", "UCB-RSSR", "SuRSR", "TopTwo", "SF-UCB:objective=Sortino"])
def test_a_regulariser_has_no_default(text):
    with pytest.raises(sb.errors.InvalidInputError, match="give L"):
        policy_from_text(text, None)


@pytest.mark.parametrize("text", ["[]", "null", "3", '{"policy": {}}'])
def test_a_description_that_is_none_hides_no_other_campaign(text, file_store):
    for name in ("broken", "desks"):
        file_store.campaign(name, policy=POLICY, arms=ARMS)
    with file_store._storage.connection() as driver:
        driver.execute("UPDATE sharpe_bandits_campaigns SET settings = ? WHERE name = 'broken'", (text,))
    assert [entry.policy for entry in file_store.campaigns()] == ["(damaged)", "SF-UCB"]
    with pytest.raises(sb.errors.UnreadableDataError, match="description of the campaign is damaged"):
        file_store.campaign("broken")


@pytest.mark.parametrize("text", ["[]", "null", '{"format": "x"}'])
def test_a_snapshot_that_is_none_says_so(text, file_store):
    file_store.campaign("desks", policy=POLICY, arms=ARMS)
    with file_store._storage.connection() as driver:
        driver.execute("UPDATE sharpe_bandits_snapshots SET state = ?", (text,))
    campaign = file_store.campaign("desks")
    with pytest.raises(sb.errors.UnreadableDataError, match="snapshot of the campaign is damaged"):
        campaign.status()
    assert not campaign.verify().ok
