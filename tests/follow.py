"""A live agent that plays along with a simulated game."""

import sharpe_bandits as sb


def follow(policy, run, arms, seed=0, horizon=None, covariates=None):
    """The agent, told what the game paid, after a few trips through JSON: in every round it asks for the arm played."""
    agent = policy.agent(arms=arms, horizon=horizon, seed=seed)
    for t, (arm, reward) in enumerate(zip(run.choices.tolist(), run.rewards, strict=True)):
        assert agent.ask() == arm, t
        agent.tell(arm, reward, **({} if covariates is None else {"covariate": covariates[t]}))
        if t % (1 + len(run.choices) // 4) == 0:
            agent = sb.Agent.from_json(agent.to_json())
    assert agent.recommend() == run.recommended
    return agent
