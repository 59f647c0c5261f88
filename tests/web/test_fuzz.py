"""The interface's own schema, fuzzed: whatever is sent, the answer is one it describes, and never a 500."""

from shutil import copytree

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from longmatch.library.library import Library
from longmatch.web.app import create_app
from longmatch.web.limits import Limits
from tests.effort import tried
from tests.web.conftest import API

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = tried(12)  # of each route
IDS = ("report-1.md", "rivers/lower/a & b?.txt", "hostile")
ROUTES = [
    "GET /health",
    "GET /library",
    "GET /models",
    "GET /map",
    "GET /documents",
    "POST /documents",
    "DELETE /documents",
    "GET /document",
    "GET /document/page",
    "POST /uploads",
    "DELETE /uploads",
    "GET /rank",
    "POST /rank",
    "GET /jobs/{job}",
    "DELETE /jobs/{job}",
    "GET /compare",
    "GET /compare/grid",
    "GET /compare/export",
    "GET /compare/view",
    "GET /within",
    "GET /within/view",
]


@pytest.fixture(scope="module")
def described(shelf, tiny_web, tmp_path_factory):
    """The interface's schema over a small library, to which documents may be added."""
    copied = copytree(shelf.address, tmp_path_factory.mktemp("fuzz") / "shelf")
    limits = Limits(reading_seconds=5, scan_seconds=5)
    app = create_app(Library(copied, tiny_web), limits=limits, hosts=frozenset({"*"}), writable=True)
    return schemathesis.openapi.from_asgi(f"{API}/openapi.json", app)


def test_every_route_of_the_schema_is_fuzzed(described):
    assert {f"{m.upper()} {API}{p}" for m, p in (r.split() for r in ROUTES)} == {
        operation.ok().label for operation in described.get_all_operations()
    }


@pytest.mark.fuzz
@pytest.mark.slow
@pytest.mark.parametrize("mode", [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE])
@pytest.mark.parametrize("route", ROUTES)
def test_whatever_is_sent_the_answer_is_as_described(described, route, mode):
    method, path = route.split()
    operation = described[f"{API}{path}"][method]
    if mode is schemathesis.GenerationMode.NEGATIVE and not (
        operation.query or operation.path_parameters or operation.body
    ):
        return  # nothing can be wrong about it

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def answers(case):
        _about_documents_that_exist(case)
        case.call_and_validate(checks=CHECKS, headers={"host": "localhost"})

    answers()


def _about_documents_that_exist(case):
    """Every second question is about documents of the library, so that it reaches the model."""
    for values in (case.query, case.body):
        for place, name in enumerate(("document", "a", "b", "id")):
            given = values.get(name) if hasattr(values, "get") else None
            if isinstance(given, str) and len(given) % 2 == 0:
                values[name] = IDS[(len(given) // 2 + place) % len(IDS)]
