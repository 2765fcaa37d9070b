"""What an experiment file can name: every public policy, arm and objective, with parameters and citations."""

import inspect

import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.base import Arm
from sharpe_bandits.experiments import catalogue
from sharpe_bandits.objectives import Objective
from sharpe_bandits.policies.base import Policy


def public(kind):
    """The kinds that a module of the package offers, by name."""
    module = {Policy: sb.policies, Arm: sb.arms, Objective: sb.objectives}[kind]
    offered = {
        name: thing for name, thing in vars(module).items() if not name.startswith("_") and inspect.isclass(thing)
    }
    return {name: thing for name, thing in offered.items() if issubclass(thing, kind) and thing is not kind}


def of_the_library(entries):
    """Without the kinds that other tests define."""
    return {name: entry for name, entry in entries.items() if entry.make.__module__.startswith("sharpe_bandits.")}


#: What policies of a user derive from.
BASES = {"IndexPolicy", "EliminationPolicy", "FixedConfidencePolicy"}


@pytest.mark.parametrize(("kind", "made_by_code"), [(Policy, BASES), (Arm, {"Scipy"}), (Objective, set())])
def test_everything_public_can_be_named(kind, made_by_code):
    listed = of_the_library(catalogue.kinds(kind))
    assert set(listed) == set(public(kind)) - made_by_code
    for name, entry in listed.items():
        assert entry.make is public(kind)[name]
        assert entry.summary
        assert "\\" not in entry.summary
        assert "`" not in entry.summary


def test_policies_say_where_they_come_from():
    entries = of_the_library(catalogue.kinds(Policy))
    assert all(entry.citation for entry in entries.values())
    assert "Cassel" in entries["UUCB"].citation
    assert "the paper" in entries["UCBRSSR"].citation


def test_signatures():
    entries = catalogue.kinds(Policy)
    assert entries["UCBRSSR"].signature() == "L, risk_free = 0.0, undefined_width = 'infinite', ddof = 1"
    assert entries["UniformSampling"].signature().startswith("objective")
    assert catalogue.kinds(Arm)["TruncatedNormal"].signature() == "mean, variance, low, high"
    assert catalogue.kinds(Objective)["MeanVariance"].signature() == "rho = 1.0"
