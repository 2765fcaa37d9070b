"""The whole schema, drawn by Schemathesis: no answer is a 500, or one that the schema does not have."""

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.conftest import examples

from .conftest import WRITER, bearer

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def test_every_operation_answers_as_the_schema_says(served, app, store):
    """Values that fit the schema, and values that do not; on a campaign that is there, and on others."""
    campaign = store.campaign("desks")
    campaign.tell_many({decision: 0.01 * (decision.number % 7) for decision in campaign.ask(count=40)})
    schema = schemathesis.openapi.from_dict(app.app.openapi())
    schema.config.update(base_url=served.url)
    paths, seen = app.app.openapi()["paths"], 0
    for found in schema.get_all_operations():
        operation = found.ok()
        route = paths[operation.path][operation.method]
        # Nothing can be wrong with a name, but for what the library says.
        kinds = {parameter["schema"].get("type") for parameter in route.get("parameters", [])} - {"string"}
        for mode in GenerationMode if kinds or "requestBody" in route else [GenerationMode.POSITIVE]:

            @settings(
                max_examples=examples(0.12),
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def check(case):
                case.call_and_validate(headers=bearer(WRITER), checks=CHECKS)
                if "name" in (case.path_parameters or {}):
                    case.path_parameters["name"] = "desks"
                    case.call_and_validate(headers=bearer(WRITER), checks=CHECKS)

            check()
        seen += 1
    assert seen == sum(map(len, paths.values()))


def test_every_answer_is_typed_and_says_who_may_ask(app):
    schema = app.app.openapi()
    assert {tuple(entry) for entry in schema["security"]} == {("token",), ("session",)}
    assert set(schema["components"]["securitySchemes"]) == {"token", "session"}
    for path, routes in schema["paths"].items():
        for method, route in routes.items():
            (content,) = route["responses"]["200"]["content"].items()
            assert content[0] != "application/json" or content[1]["schema"], (path, method)
            for status, answer in route["responses"].items():
                if status != "200":
                    schemas = {kind: one["schema"]["$ref"] for kind, one in answer["content"].items()}
                    assert schemas == {"application/problem+json": "#/components/schemas/Problem"}, (path, status)
