"""``sharpe-bandits cache``: it shows what is kept, and clears it."""

from sharpe_bandits.cli.program import main
from tests.simulation.apart import refill


def test_the_command_shows_and_clears(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SHARPE_BANDITS_CACHE", str(tmp_path))
    assert main(["cache"]) == 0
    assert f"{tmp_path / 'kernels'}: 0 compiled kernels" in capsys.readouterr().out
    refill(tmp_path, {"a.kernel": bytes(2**20), "b.kernel": bytes(2**19)})
    (tmp_path / "kernels" / "notes.txt").write_text("not ours")
    assert main(["cache"]) == 0
    assert "2 compiled kernels, 1.5 MiB" in capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0
    assert "removed 2 compiled kernels, 1.5 MiB" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["notes.txt"]
