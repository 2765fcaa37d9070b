"""Every policy that is played to a horizon, in every form that it has, and a user's own: what the contract suite runs
through. A test checks that no class is missing here, so that a new policy cannot escape the contract.
"""

import sharpe_bandits as sb


@sb.index_policy(name="Greedy Sharpe")
def greedy_sharpe(arm, t, L):
    return arm.mean**2 / (L + arm.variance)


#: Class name -> instances. Randomised policies come first: the other test files that compile kernels begin with the
#: others, so that two processes seldom compile the same one at the same time.
BY_CLASS = {
    "ThompsonSampling": [sb.policies.ThompsonSampling(variance=2.0)],
    "MTS": [sb.policies.MTS()],
    "VTS": [sb.policies.VTS()],
    "MVTS": [sb.policies.MVTS(rho=1.5)],
    "ModifiedMVTS": [
        sb.policies.ModifiedMVTS(L=0.8, name="Modified-MVTS printed"),
        sb.policies.ModifiedMVTS(L=0.8, form="repaired", name="Modified-MVTS repaired"),
        sb.policies.ModifiedMVTS(L=0.8, form="authors", name="Modified-MVTS authors"),
    ],
    "NormalGammaTS": [sb.policies.NormalGammaTS(L=0.8)],
    "EpsilonGreedy": [sb.policies.EpsilonGreedy(sb.RSSR(L=0.8), epsilon=0.3)],
    "SRTS": [sb.policies.SRTS(L=0.8)],
    "ScaleFreeTS": [
        sb.ScaleFreeTS(L=0.8),
        sb.ScaleFreeTS(objective=sb.MeanVariance(1.5), optimistic=True, name="SF-TS, optimistic"),
    ],
    "ScaleFreeNPTS": [sb.policies.ScaleFreeNPTS(L=0.8)],
    "NPTS": [
        sb.policies.NPTS(L=0.8),
        sb.policies.NPTS(L=0.8, anchor=1.0, name="ρ-NPTS, anchor"),
        sb.policies.NPTS(objective=sb.MeanVariance(1.5), name="ρ-NPTS on the mean-variance"),
    ],
    "ScaleFreeUCB": [
        sb.ScaleFreeUCB(L=0.8, c=0.5),
        sb.ScaleFreeUCB(L=0.8, dependent=True, name="SF-UCB, dependent"),
    ],
    "SlidingWindowUCB": [sb.policies.SlidingWindowUCB(L=0.8, window=60)],
    "DiscountedUCB": [sb.policies.DiscountedUCB(L=0.8, discount=0.98)],
    "ScaleFreeIMED": [sb.ScaleFreeIMED(L=0.8)],
    "SequentialHalving": [
        sb.policies.SequentialHalving(sb.Sharpe(L=0.1)),
        sb.policies.SequentialHalving(sb.RSSR(L=0.5), keep_samples=True, name="Sequential halving, samples kept"),
    ],
    "SHVV": [sb.SHVV()],
    "SHSR": [sb.SHSR(L=0.5), sb.SHSR(L=0.5, keep_samples=True, name="SHSR, samples kept")],
    "SuccessiveRejects": [sb.policies.SuccessiveRejects(sb.Variance())],
    "SuRSR": [sb.SuRSR(L=0.5)],
    "SuccessiveAcceptsRejects": [sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=0.5))],
    "VarianceAwareHalving": [sb.policies.VarianceAwareHalving(sb.RSSR(L=0.5))],
    "OCBARejects": [sb.policies.OCBARejects(sb.RSSR(L=0.5))],
    "UniformSampling": [sb.policies.UniformSampling(sb.RSSR(L=0.5))],
    "CustomPolicy": [greedy_sharpe(L=1.0)],
    "RoundRobin": [sb.policies.RoundRobin(sb.Mean())],
    "MVLCB": [sb.policies.MVLCB(rho=0.5)],
    "UCB1": [sb.policies.UCB1()],
    "UCBV": [sb.policies.UCBV()],
    "UCBTuned": [sb.policies.UCBTuned()],
    "KLUCB": [sb.policies.KLUCB()],
    "ModifiedGRAUCB": [
        sb.policies.ModifiedGRAUCB(L=0.8, name="Modified-GRA-UCB printed"),
        sb.policies.ModifiedGRAUCB(L=0.8, form="authors", name="Modified-GRA-UCB authors"),
    ],
    "GRAUCB": [sb.policies.GRAUCB(rho=1.5)],
    "UUCB": [
        sb.policies.UUCB(epsilon0=5.0, risk_free=0.3),
        sb.policies.UUCB(epsilon0=5.0, q=3.0, name="U-UCB, q = 3"),
        sb.policies.UUCB(epsilon0=1.0, sign="minus", undefined="barred", name="U-UCB, minus"),
    ],
    "UCBSRLike": [
        sb.UCBSRLike(L=0.8),
        sb.UCBSRLike(L=0.8, undefined_width="printed", name="UCB-SR-like printed"),
    ],
    "UCBRSSR": [
        sb.UCBRSSR(L=0.8),
        sb.UCBRSSR(L=0.8, undefined_width="printed", name="UCB-RSSR printed"),
    ],
    "UCBVV": [sb.UCBVV()],
}

EVERY_POLICY = [policy for instances in BY_CLASS.values() for policy in instances]
