"""An interrupt is answered by every kernel, and what follows is whole."""

import json
import subprocess
import sys

#: Games by the kernel that plays them; tables end early, so that short and long games have the same kernels.
LONG = {
    "side by side": "sb.trace(sb.UCBRSSR(L=1.0), EQUAL, horizon=min(n, 10**8), kernel='side by side')",
    "reference": "sb.simulate(sb.ScaleFreeTS(L=1.0), EQUAL, horizon=n, runs=2)",
    "a long pilot": "sb.simulate(sb.UCBRSSR(L=1.0, pilot_fraction=0.99), EQUAL, horizon=n, runs=2)",
    "forgets": "sb.simulate(sb.policies.DiscountedUCB(L=1.0), EQUAL, horizon=n, runs=2)",
    "phases": "sb.simulate(sb.SHSR(L=1.0), EQUAL, horizon=n, runs=2)",
    "fixed confidence": "sb.identify(sb.policies.LUCB(L=1.0), EQUAL, max_budget=n, runs=2)",
    "pregenerated": "sb.simulate(sb.policies.UCB1(), [sb.arms.AR1(0, 1, 0.5)] * 2, horizon=min(n, 10**8), runs=2)",
    "trace": "sb.trace(sb.UCBRSSR(L=1.0), EQUAL, horizon=min(n, 10**8))",
}
#: An interpreter of its own, since libraries that other tests load may take over interrupts. Each game is played for a
#: short while first, so that what follows is not compiling; then it is interrupted, and played again.
PROGRAM = """
import json, os, signal, threading, time
import numpy as np
import sharpe_bandits as sb
from sharpe_bandits.simulation.families import index

index.MIN_ROUNDS_TO_COMPILE = 1
EQUAL = [sb.Uniform(0, 1)] * 3
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    asked.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

def same(first, again):
    for one, other in zip(first.values(), again.values(), strict=True) if hasattr(first, "values") else [(first, again)]:
        for name in ("final", "choices", "rewards"):
            np.testing.assert_array_equal(getattr(one, name, 0), getattr(other, name, 0))

took = {}
for name, game in GAMES.items():
    play, asked = eval("lambda n: " + game), []
    first = play(5000)
    threading.Timer(0.3, interrupt).start()
    try:
        play(10**9)
    except KeyboardInterrupt:
        took[name] = time.monotonic() - asked[0]
    same(first, play(5000))
print(json.dumps(took))
"""


def test_an_interrupt_is_answered_and_what_follows_is_whole():
    code = f"GAMES = {LONG}\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    took = json.loads(done.stdout)
    assert took.keys() == LONG.keys()
    # A second on a quiet machine; the margin is for a busy one. Without an answer the whole game is played.
    assert max(took.values()) < 10.0, took
