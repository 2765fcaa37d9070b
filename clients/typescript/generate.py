"""Write ``openapi.json``, from which ``npm run generate`` makes the types: ``python clients/typescript/generate.py``.

Only answers to requests that succeed: problems are the same for all routes.
"""

import json
import tempfile
from pathlib import Path

import sharpe_bandits as sb
from sharpe_bandits.service.app import create_app


def openapi():
    """The schema of the service, without problems."""
    with tempfile.TemporaryDirectory() as folder, sb.Store(Path(folder) / "empty.db") as store:
        schema = create_app(store, []).app.openapi()
    for routes in schema["paths"].values():
        for route in routes.values():
            route["responses"] = {"200": route["responses"]["200"]}
    return schema


if __name__ == "__main__":
    Path(__file__).with_name("openapi.json").write_text(json.dumps(openapi()))
