"""Many rounds, many runs: the reference loop, two faster loops for the plain game, and what compiles and runs them."""
