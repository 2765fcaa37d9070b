"""What the package offers: few names at the top, everything else in its modules, and help that fits on two screens."""

import pydoc
from types import ModuleType

import sharpe_bandits as sb
from sharpe_bandits import parameters


def test_help_names_everything_and_fits_on_two_screens():
    top = {name for name in dir(sb) if not name.startswith("_")}
    text = pydoc.plain(pydoc.render_doc(sb))
    assert len(top) <= 60
    assert len(text.splitlines()) <= 100
    for name in top - {"results"}:
        assert name in sb.__doc__, name


def test_a_module_has_a_word_on_every_name():
    for module in (sb.policies, sb.arms, sb.objectives, parameters):
        offered = getattr(module, "__all__", None) or [
            name
            for name, thing in vars(module).items()
            if not name.startswith("_") and not isinstance(thing, ModuleType)
        ]
        for name in {*offered} - {"Any"}:
            assert f"``{name}``" in module.__doc__, (module.__name__, name)
