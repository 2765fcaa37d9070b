"""Files in deploy/: they parse, and name metrics, options and probes that exist."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sharpe_bandits.cli.program import parser_of
from sharpe_bandits.service.security import HEALTH, read_tokens
from tests.service.desks import DESKS, ask

yaml = pytest.importorskip("yaml")
DEPLOY = Path(__file__).parents[2] / "deploy"


def test_dashboard_and_alerts_use_metrics_that_are_exported(http):
    ask(http, count=2)
    http.post(f"{DESKS}/rewards", json={"rewards": [{"decision": 1, "reward": 0.5}]})
    http.get("/api/campaigns", headers={"Authorization": "Bearer x"})
    exported = set(re.findall(r"^(sharpe_bandits_\w+)", http.get("/metrics").text, re.MULTILINE))
    dashboard = json.loads((DEPLOY / "grafana" / "sharpe-bandits.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"]
    queries += [rule["expr"] for rule in rules]
    used = set(re.findall(r"sharpe_bandits_\w+", " ".join(queries)))
    assert len(used) > 7
    assert used <= exported
    labels = set(re.findall(r"(\w+)=~?\"", " ".join(queries))) | set(re.findall(r"by \((\w+)\)", " ".join(queries)))
    assert labels <= {"status", "route", "reason", "result", "le", "job"}


@pytest.mark.parametrize(
    "command",
    [
        ["promtool", "check", "rules", "alerts.yaml"],
        ["promtool", "check", "config", "--syntax-only", "prometheus.yaml"],
        ["amtool", "check-config", "alertmanager.yaml"],
    ],
    ids=" ".join,
)
def test_prometheus_and_alertmanager_accept_their_files(command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    subprocess.run(command, check=True, cwd=DEPLOY)


def test_the_services_of_the_compose_file_know_each_other():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    made = {"./tokens.toml", "./metrics-token", "cache", "campaigns"}  # by the commands at its top, and by Docker
    for service in services.values():
        mounted = {volume.partition(":")[0] for volume in service["volumes"]}
        assert all((DEPLOY / path).is_file() for path in mounted - made)
    prometheus = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text())
    (scraped,), (manager,) = prometheus["scrape_configs"], prometheus["alerting"]["alertmanagers"]
    targets = [*scraped["static_configs"][0]["targets"], *manager["static_configs"][0]["targets"]]
    assert [target.partition(":")[0] for target in targets] == ["service", "alertmanager"]
    assert {target.partition(":")[0] for target in targets} <= set(services)
    monitor = yaml.safe_load((DEPLOY / "monitor.yaml").read_text())["spec"]
    pod = next(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))["spec"]["template"]
    assert monitor["selector"]["matchLabels"] == pod["metadata"]["labels"]
    ports = [port["name"] for port in pod["spec"]["containers"][0]["ports"]]
    assert [endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]] == ports


def test_grafana_is_given_its_data_source_and_dashboard():
    (source,) = yaml.safe_load((DEPLOY / "grafana" / "datasource.yaml").read_text())["datasources"]
    dashboard = json.loads((DEPLOY / "grafana" / "sharpe-bandits.json").read_text())
    assert {panel["datasource"]["uid"] for panel in dashboard["panels"]} == {source["uid"]}


def test_commands_and_probes_exist():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    manifests = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    container = manifests[0]["spec"]["template"]["spec"]["containers"][0]
    unit = re.search("ExecStart=.*?sharpe-bandits (.*)", (DEPLOY / "sharpe-bandits.service").read_text()).group(1)
    for words in (compose["service"]["command"], container["args"], unit.split()):
        options = parser_of(("serve",)).parse_args(words)
        assert options.token_file
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        assert container[probe]["httpGet"]["path"] in HEALTH
    assert manifests[1]["spec"]["selector"] == manifests[0]["spec"]["selector"]["matchLabels"]


def test_the_example_of_a_token_file_is_read(tmp_path):
    path = tmp_path / "tokens.toml"
    path.touch(0o600)
    path.write_text((DEPLOY / "tokens.example.toml").read_text().replace("replace-me", "x" * 32))
    assert [token.name for token in read_tokens(path)] == ["operator", "workers", "prometheus"]
