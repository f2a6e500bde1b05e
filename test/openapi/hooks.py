"""What Schemathesis needs to know besides the document: https://schemathesis.readthedocs.io/en/stable/guides/extending/"""

import atexit
import json
import os
import re

import schemathesis
from schemathesis.core.failures import Failure
from schemathesis.specs.openapi.checks import ignored_auth

ADMIN_KEY = os.environ["OPENAPI_ADMIN_KEY"]
WORKSPACE_KEY = os.environ["OPENAPI_WORKSPACE_KEY"]
# Ids of what the run itself works with: its keys and its owner.
OWN = set(os.environ["OPENAPI_OWN_IDS"].split(","))
CHANGES = {"post", "put", "patch", "delete"}

# Valid by the schema and still refused with 400: what the message says, and why JSON Schema cannot say it.
with open(os.path.join(os.path.dirname(__file__), "beyond-schema.json"), encoding="utf-8") as file:
    BEYOND_SCHEMA = [re.compile(rule["message"]) for rule in json.load(file)]
NEEDED = set()


@atexit.register
def count_needed_rules():
    print(f"beyond-schema.json: this run needed {len(NEEDED)} of {len(BEYOND_SCHEMA)} rules")


def scopes_of(operation):
    return operation.definition.raw.get("x-scopes", [])


@schemathesis.hook
def filter_case(context, case):
    """The run keeps its own keys and its own user."""
    if case.operation.method not in CHANGES:
        return True
    return not (OWN & set(map(str, (case.path_parameters or {}).values())) or any(own in str(case.body) for own in OWN))


@schemathesis.hook
def before_call(context, case, kwargs):
    """Operations that only workspace keys may do are done with one."""
    if any(scope.startswith(("logs.", "completions.")) for scope in scopes_of(case.operation)):
        if case.headers is not None and "x-gateway-api-key" in case.headers:
            case.headers["x-gateway-api-key"] = WORKSPACE_KEY


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    """What the schema allows is not refused with 400, but for the reasons in `BEYOND_SCHEMA`."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return None
    message = response.json()["error"]["message"]
    said = f"{case.operation.label}: {message}"
    rule = next((rule for rule in BEYOND_SCHEMA if rule.search(said)), None)
    if rule is not None:
        NEEDED.add(rule)
        return None
    raise AssertionError(f"The schema allows this request, and the service refuses it: {message}")


@schemathesis.check
def credentials_are_checked(ctx, response, case):
    """No operation is open without its credential; an address that fails too often gets 429 instead of 401."""
    try:
        return ignored_auth(ctx, response, case)
    except Failure as failure:
        if "429 Too Many Requests" in failure.message:
            return None
        raise


@schemathesis.check
def refusals_lead_to_the_sign_in_page(ctx, response, case):
    """A sign-on that the schema does not allow redirects the browser to the sign-in page, which gets the error code."""
    if case.operation.definition.raw.get("operationId") != "startSignOnStart":
        return None
    if case.meta is None or case.meta.generation.mode.is_positive or response.status_code != 302:
        return None
    location = response.headers["location"][0]
    if not location.startswith("/ui/sign-in?error="):
        raise AssertionError(f"The schema does not allow this request, and the service redirects it to {location}")
