"""Webhooks: signed, delivered at least once, and only where they may go."""

import hashlib
import hmac
import http.server
import json
import ssl
import subprocess
import threading

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import webhooks


@pytest.fixture
def receiver(tmp_path, monkeypatch):
    """A server with a certificate of its own; it refuses as many messages as ``refusals`` says."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    messages = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = server.answers.pop(0) if server.answers else 204
            messages.append((status, dict(self.headers), body))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.messages, server.answers = messages, []
    server.url = f"https://localhost:{server.server_port}/campaigns"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for name, value in {
        webhooks.SECRET: "s3cret", webhooks.HOSTS: "example.com, localhost", "SSL_CERT_FILE": str(certificate)
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(webhooks, "_PAUSE", 0.01)
    monkeypatch.setattr(webhooks.send, "__kwdefaults__", {"attempts": 3, "pause": 0.01})
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_messages_are_signed_and_repeated_until_they_are_received(receiver, file_store):
    campaign = file_store.campaign("desks", policy=sb.ScaleFreeUCB(L=0.1), arms=["a", "b"], webhook=receiver.url)
    receiver.answers = [500, 302]
    campaign.pause("venue outage", by="Ann")
    with campaign._notifying:  # the thread in the background has it, or is done
        pass
    campaign.notify()
    assert [status for status, *_ in receiver.messages] == [500, 302, 204]
    headers, body = receiver.messages[-1][1:]
    assert len({headers["Idempotency-Key"] for _, headers, _ in receiver.messages}) == 1
    at, signature = (part.partition("=")[2] for part in headers["Sharpe-Bandits-Signature"].split(","))
    assert signature == hmac.new(b"s3cret", at.encode() + b"." + body, hashlib.sha256).hexdigest()
    message = json.loads(body)
    assert (message["campaign"], message["kind"]) == ("desks", "changed")
    assert message["details"]["by"] == "Ann"
    assert campaign.notify() == 0
    assert campaign.verify().ok


def test_a_message_that_was_not_received_is_sent_later(receiver, file_store):
    campaign = file_store.campaign("desks", policy=sb.ScaleFreeUCB(L=0.1), arms=["a", "b"])
    campaign.pause("before there was a webhook")
    receiver.answers = [503] * 3
    campaign.set(webhook=receiver.url)
    with pytest.raises(sb.errors.StoreError, match="was not reached in 3 attempts"):
        campaign.notify()
    assert file_store.campaign("desks").notify() == 1


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (webhooks.HOSTS, "example.com", "not allowed"),
        (webhooks.SECRET, "", "not allowed"),
        ("SSL_CERT_FILE", "", "CERT"),
    ],
)
def test_messages_go_only_where_they_may(variable, value, said, receiver, monkeypatch):
    """Not to hosts that are not listed, not unsigned, and not to a host with a certificate of somebody else."""
    monkeypatch.setenv(variable, value)
    with pytest.raises((sb.errors.InvalidInputError, sb.errors.StoreError), match=said):
        webhooks.send(receiver.url, "k", {})
    assert receiver.messages == []


def test_a_webhook_that_stays_silent_is_logged_each_time(receiver, file_store, monkeypatch, caplog):
    options = {"policy": sb.ScaleFreeUCB(L=0.1), "arms": ["a", "b"]}
    campaign = file_store.campaign("desks", **options)
    campaign.set(webhook=receiver.url)
    assert caplog.messages == []
    monkeypatch.delenv(webhooks.SECRET)
    for count, act in enumerate(
        [
            lambda: campaign.set(webhook="https://example.com/other"),
            lambda: file_store.campaign("new", webhook=receiver.url, **options),
            lambda: campaign.set(mode="paused"),
            lambda: campaign.set(mode="live"),
        ],
        1,
    ):
        act()
        for thread in threading.enumerate():
            if thread.name == "sharpe-bandits webhook":
                thread.join()
        assert [webhooks.SECRET in text for text in caplog.messages] == [True] * count
    assert receiver.messages == []


@pytest.mark.parametrize(
    "url", ["http://example.com", "https://", "https://me:x@example.com", "ftp://a", 3, "https://a b"]
)
def test_only_https(url):
    with pytest.raises(sb.errors.InvalidInputError, match="https://alerts"):
        webhooks.check_webhook(url)
