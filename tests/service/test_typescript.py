"""The TypeScript client, compiled and run by Node against the service, through a proxy that loses answers."""

import http.client
import http.server
import json
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from .conftest import WRITER

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
TOOLS = CLIENT / "node_modules" / ".bin"
pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (TOOLS / "tsc").exists(), reason="no Node, or `make npm` was not run"
)


class Proxy(http.server.ThreadingHTTPServer):
    """Forwards; loses so many answers of the service; or says nothing."""

    def __init__(self, url):
        self.target, self.mode, self.lost = url.removeprefix("http://"), "forward", 0
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        proxy, body = self.server, self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/proxy/"):
            proxy.mode, _, lost = self.path.removeprefix("/proxy/").partition("-")
            proxy.lost = int(lost or 0)
            return self._answer(200, b"{}")
        if proxy.mode == "mute":
            time.sleep(1)
            return None
        connection = http.client.HTTPConnection(proxy.target, timeout=10)
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if proxy.lost:
            proxy.lost -= 1
            return None
        return self._answer(answer.status, content)

    do_POST = do_GET

    def _answer(self, status, content):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def test_the_types_are_those_of_the_service(tmp_path):
    from clients.typescript.generate import openapi

    (tmp_path / "openapi.json").write_text(json.dumps(openapi()))
    new = tmp_path / "schema.d.ts"
    subprocess.run([TOOLS / "openapi-typescript", tmp_path / "openapi.json", "-o", new], check=True, timeout=120)
    assert new.read_text() == (CLIENT / "schema.d.ts").read_text(), "run: make typescript"


def test_retries_deadlines_and_the_fallback(served, store, tmp_path):
    options = ["--strict", "--target", "es2022", "--module", "esnext", "--lib", "es2022,dom"]
    subprocess.run([TOOLS / "tsc", CLIENT / "client.ts", *options, "--outDir", tmp_path], check=True, timeout=120)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    proxy = Proxy(served.url)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    script = Path(__file__).with_name("exercise.mjs")
    done = subprocess.run(
        ["node", script, tmp_path / "client.js", proxy.url, WRITER], capture_output=True, text=True, timeout=120
    )
    proxy.shutdown()
    proxy.server_close()
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["first"]["number"] == told["again"]["number"] == 1
    assert told["again"]["reward"] == 0.5
    assert told["conflict"] == {"status": 409, "type": "urn:sharpe-bandits:problem:conflict"}
    assert (told["unknown"]["status"], told["forbidden"]["status"], told["silent"]["status"]) == (404, 401, 0)
    assert told["seconds"] < 0.8
    assert (told["spare"]["number"], told["spare"]["arm"]) == (0, "carry")
    assert (told["status"]["decisions"], told["status"]["rewards"], told["log"]) == (2, 2, 2)
    first, spare = store.campaign("desks").history().to_pylist()
    assert (spare["arm"], spare["reward"], spare["by"], spare["worker"]) == ("carry", -0.25, "external", "node")
    assert spare["key"] == "fallback-order-1"
    assert first["key"] == told["first"]["key"]
