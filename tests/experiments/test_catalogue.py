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
    return {name: entry for name, entry in entries.items() if entry.__module__.startswith("sharpe_bandits.")}


#: What policies of a user derive from.
BASES = {"IndexPolicy", "EliminationPolicy", "FixedConfidencePolicy"}


@pytest.mark.parametrize(("kind", "made_by_code"), [(Policy, BASES), (Arm, {"Scipy"}), (Objective, set())])
def test_everything_public_can_be_named(kind, made_by_code):
    listed = of_the_library(catalogue.kinds(kind))
    assert set(listed) == set(public(kind)) - made_by_code
    for name, entry in listed.items():
        assert entry is public(kind)[name]
        summary = catalogue.summary(entry)
        assert summary
        assert "\\" not in summary
        assert "`" not in summary


def test_policies_say_where_they_come_from():
    citations = {name: catalogue.citation(kind) for name, kind in of_the_library(catalogue.kinds(Policy)).items()}
    assert all(citations.values())
    assert "Cassel" in citations["UUCB"]
    assert "the paper" in citations["UCBRSSR"]


@pytest.mark.parametrize(
    ("kind", "signature"),
    [
        (sb.UCBRSSR, "L, risk_free = 0.0, undefined_width = 'infinite', ddof = 1"),
        (sb.arms.TruncatedNormal, "mean, variance, low, high"),
        (sb.MeanVariance, "rho = 1.0"),
    ],
)
def test_signatures(kind, signature):
    assert catalogue.signature(kind) == signature


def test_what_has_a_default_of_its_own_kind_shows_it():
    assert catalogue.signature(sb.policies.UniformSampling).startswith("objective")
