"""A bypass of FastAPI for the two routes that workers call all the time: ask and tell.

FastAPI's routing costs several times more than asking or telling itself. The two routes are declared like all others,
and their endpoints, models and error handlers are the same either way.
"""

from __future__ import annotations

import re
from typing import Any, get_type_hints

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from ..errors import SharpeBanditsError
from . import api

_PATH = re.compile(r"/api/campaigns/([^/]+)/(decisions|rewards)")
#: Endpoints by the end of their paths, with the models of their bodies.
_ENDPOINTS: dict[str, tuple[Any, Any]] = {
    "decisions": (api.ask, get_type_hints(api.ask)["body"]),
    "rewards": (api.tell, get_type_hints(api.tell)["body"]),
}


class Application(FastAPI):
    """An application in which ask and tell bypass the routing of FastAPI."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        found = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if found is None:
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        request = Request(scope, receive)
        endpoint, model = _ENDPOINTS[found[2]]
        try:
            body = (await receive()).get("body", b"")  # complete: the gate has read it
            response = await endpoint(request, found[1], model.model_validate_json(body))
        except ValidationError as error:
            wrong = [{**item, "loc": ("body", *item["loc"])} for item in error.errors(include_context=False)]
            response = await self._handled(request, RequestValidationError, RequestValidationError(wrong))
        except SharpeBanditsError as error:
            response = await self._handled(request, SharpeBanditsError, error)
        except Exception as error:
            await (await self._handled(request, Exception, error))(scope, receive, send)
            raise  # to the log of the server
        await response(scope, receive, send)

    async def _handled(self, request: Request, kind: type[Exception], error: Exception) -> Any:
        handler: Any = self.exception_handlers[kind]
        return await handler(request, error)
