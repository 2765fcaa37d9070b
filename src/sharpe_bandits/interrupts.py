"""Ctrl-C while the program is still starting: one line and exit status 130, not a traceback out of some import."""

import os
import signal
import sys
from types import FrameType

STATUS = 130
#: Whether Ctrl-C was ours to handle when the program started.
_handled = False


def is_program() -> bool:
    """Whether the package is being imported to run its command line, not by somebody else's code."""
    name = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    # "-m" is all that argv holds while "python -m sharpe_bandits" imports the package on its way to __main__.
    return name == "sharpe-bandits" or (name == "-m" and "sharpe_bandits" in sys.orig_argv)


def leave_quietly() -> None:
    """Until :func:`take_back`, let Ctrl-C end the process; respects a parent that has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
        global _handled
        _handled = True


def take_back() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def ignore() -> None:
    """The program has its exit status: an interrupt during the last clean-up must not change it."""
    if _handled:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def leave() -> None:
    """End the program at once after an interrupt: not even a kernel that another thread is compiling is waited for."""
    if _handled:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(STATUS)


def _leave(number: int, frame: FrameType | None) -> None:
    # Nothing is open yet. An exception, instead, might be swallowed or garbled by whatever is being imported.
    os.write(2, b"\nsharpe-bandits: interrupted; nothing was written\n")
    os._exit(STATUS)
