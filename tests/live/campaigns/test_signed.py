"""Signed exports: checked without the store, and by others."""

import json
import subprocess

import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli import program
from sharpe_bandits.live.campaigns.signed import check_export


@pytest.fixture
def keys(tmp_path):
    private, public = tmp_path / "private.pem", tmp_path / "public.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    return private, public


def test_an_export_is_checked_without_the_store(tmp_path, keys, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    private, public = keys
    with sb.Store("campaigns.db") as store:
        campaign = store.campaign("desks", policy=sb.ScaleFreeUCB(L=0.1), arms=["a", "b"])
        for i, decision in enumerate(campaign.ask(count=20)):
            campaign.tell(decision, float(i))
        campaign.amend(3, 7.5, "wrong")
    words = ["campaign", "export", "desks", "--out", "log.json", "--signed", str(private)]
    assert program.main(words) == 0
    (tmp_path / "campaigns.db").unlink()
    assert program.main(["campaign", "check-export", "log.json", "--public-key", str(public)]) == 0
    assert "41 events" in capsys.readouterr().out
    content = json.loads((tmp_path / "log.json").read_text())
    assert check_export(json.dumps(content, indent=1).encode(), public.read_bytes()).ok  # spaces do not matter
    content["events"][30][4] = 99.0
    forged = check_export(json.dumps(content).encode(), public.read_bytes())
    assert [problem.split(":")[0] for problem in forged.problems] == [
        "the signature is not that of this key and this content", "event 31",
    ]  # fmt: skip
    with pytest.raises(sb.errors.InvalidInputError, match="public key"):
        check_export(b"{}", private.read_bytes())
    with pytest.raises(sb.errors.UnreadableDataError):
        check_export(b"{}", public.read_bytes())
