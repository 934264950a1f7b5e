"""The OpenAPI description: that of FastAPI for what is browsed, and by hand for what is hot."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from undust.serve.limits import MAX_BATCH, MAX_EXPLAINED
from undust.serve.schemas import COUNT, ERROR, EXPLANATION, PROBLEM, STRING, TEXT_OR_NULL, Schema, arr, obj, responses

ABOUT = """Ask which URL to fetch for each page, whether two URLs are the same page, and why; look at the duplicates of
a run and the rules learned from them. Every answer is `{ok: true, result, total, next}` or `{ok: false, error}`."""

_MAYBE: Schema = {"type": ["boolean", "null"]}
_PAIR: Schema = arr(STRING, minItems=2, maxItems=2)


def _either(one: Schema, many: Schema) -> Schema:
    return {"anyOf": [one, many]}


_HOT: dict[str, tuple[str, str, Schema, Schema]] = {
    "/normalize": (
        "Give the URL to fetch",
        "For one URL, or for each of a batch. A URL that cannot be parsed gives null, and the reason."
        " As text: a URL on each line; one that cannot be parsed stays as it was.",
        _either(obj(url=STRING), obj(urls=arr(STRING, maxItems=MAX_BATCH))),
        _either(
            obj(url=TEXT_OR_NULL, problem=TEXT_OR_NULL),
            obj(urls=arr(TEXT_OR_NULL), unusable=COUNT, problems=arr(PROBLEM)),
        ),
    ),
    "/key": (
        "Give the key that all URLs of a page share",
        "As /normalize; where a value does not matter, the key has a star.",
        _either(obj(url=STRING), obj(urls=arr(STRING, maxItems=MAX_BATCH))),
        _either(
            obj(key=TEXT_OR_NULL, problem=TEXT_OR_NULL),
            obj(keys=arr(TEXT_OR_NULL), unusable=COUNT, problems=arr(PROBLEM)),
        ),
    ),
    "/same": (
        "Tell whether two URLs lead to the same page",
        "As far as the rules know. null where one cannot be parsed. As text: two URLs on each line, with a tab or a"
        " space between; true, false or unusable for each.",
        _either(obj(a=STRING, b=STRING), obj(pairs=arr(_PAIR, maxItems=MAX_BATCH))),
        _either(obj(same=_MAYBE, keys=arr(TEXT_OR_NULL), problem=TEXT_OR_NULL), obj(same=arr(_MAYBE), unusable=COUNT)),
    ),
    "/explain": (
        "Say which rule decides a URL, and why",
        "For one URL, or up to a thousand. As text: a URL on each line; explanations with a blank line between.",
        _either(obj(url=STRING), obj(urls=arr(STRING, maxItems=MAX_EXPLAINED))),
        _either(EXPLANATION, obj(explanations=arr(EXPLANATION))),
    ),
}


def describe(app: FastAPI, version: str, *, token: bool) -> dict[str, Any]:
    """Describe all that can be asked."""
    made = get_openapi(title="undust", version=version, description=ABOUT, routes=app.routes)
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Error"] = ERROR
    for path, (summary, about, question, answer) in _HOT.items():
        made["paths"][path] = {"post": _operation(path, summary, about, question, answer)}
    if token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, operations in made["paths"].items():
            if path not in _HOT and "post" in operations:
                operations["post"]["security"] = [{"token": []}]
    made["paths"] = dict(sorted(made["paths"].items(), key=lambda item: (item[0] not in _HOT, item[0])))
    return made


def _operation(path: str, summary: str, about: str, question: Schema, answer: Schema) -> dict[str, Any]:
    return {
        "summary": summary,
        "description": about,
        "operationId": path.strip("/"),
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": question},
                "text/plain": {"schema": {"type": "string", "minLength": 1}},
            },
        },
        "responses": {str(status): each for status, each in responses(answer, 400, 408, 413, 415, text=True).items()},
    }
