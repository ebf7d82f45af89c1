#!/usr/bin/env python3
"""In a real API server the definitions in crds/ judge tests/data/schema_cases.json as it says.

Good objects are accepted, bad ones refused at the field that is wrong; so are updates. Objects are
created with dryRun, except where the request needs one that is there: these are deleted again.
Runs in the cluster of $KUBECONFIG, which has the definitions.
"""

import concurrent.futures
import copy
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the tree stays as it was

SOURCE = os.environ.get("WEFT_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
sys.path.insert(0, os.path.join(SOURCE, "deploy", "local-cluster"))
from api_server import ApiServer  # noqa: E402

IN_FLIGHT = 8
STRICT = "?fieldValidation=Strict"
DRY_RUN = STRICT + "&dryRun=All"
NAMESPACE = "team-a"  # of the table's objects
# Two fields disagree, and the rule names the other one.
OTHER_FIELD = {
    "the scale-up network's name is taken": "spec.scaleUp.name",
    # The API server writes a map's key after a dot.
    "an index label's texts count as numbers from 0": "spec.workerIndexLabels[0].values.a b",
}
PLURALS = {"TrainingJob": "trainingjobs", "Placement": "placements", "Fabric": "fabrics"}


def merged(target, patch):
    """RFC 7386, of copies"""
    if not isinstance(patch, dict):
        return patch
    result = copy.deepcopy(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def collection(kind):
    space = "" if kind == "Fabric" else f"/namespaces/{NAMESPACE}"
    return f"/apis/weft.dev/v1alpha1{space}/{PLURALS[kind]}"


def refused_fields(status, answer):
    """The fields of a refusal; none where the object was taken."""
    if status in (200, 201):
        return []
    causes = answer.get("details", {}).get("causes", [])
    # Where the schema has refused, rules of CEL may be left out; the note about it is no refusal.
    message = answer["message"]
    fields = [one.get("field") for one in causes if "rules were not checked" not in one["message"]]
    return fields or re.findall(r'unknown field "([^"]+)"', message) or [message]


class Table:
    """The cases, each tried as one request or, where one object must be there, as a few."""

    def __init__(self, server, table):
        self.server = server
        self.bases = table["bases"]
        self.bases["Fabric"]["metadata"]["name"] = "schema-test"  # there may be a default

    def send(self, method, path, body):
        return self.server.request(method, path, json.dumps(body))

    def change(self, name, kind, old, new, subresource):
        """What the server says of an update; dryRun, on an object made for it."""
        path = collection(kind)
        old["metadata"]["name"] = new["metadata"]["name"] = name
        status, made = self.send("POST", path + STRICT, old)
        if status != 201:
            return [f"the old object is refused: {made['message']}"]
        new["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
        answer = self.send("PUT", f"{path}/{name}{subresource}{DRY_RUN}", new)
        self.send("DELETE", f"{path}/{name}", {})
        return refused_fields(*answer)

    def try_object(self, number, case):
        base = self.bases[case["kind"]]
        whole = merged(base, case["patch"])
        if "status" in whole:  # looked at in its subresource only
            bare = merged(whole, {"status": None})
            return self.change(f"status-{number}", case["kind"], bare, whole, "/status")
        return refused_fields(*self.send("POST", collection(case["kind"]) + DRY_RUN, whole))

    def try_update(self, number, case):
        base = self.bases[case["kind"]]
        old, new = merged(base, case["old"]), merged(base, case["new"])
        return self.change(f"update-{number}", case["kind"], old, new, "")


def right(case, fields):
    """The server refuses at the case's field first, and only what the table says it sees."""
    if "path" not in case or case.get("seenBy") == "decoder":
        return fields == []
    wanted = OTHER_FIELD.get(case["name"], case["path"])
    if not fields or case.get("seenBy") == "schema":
        return fields[:1] == [wanted]
    # A rule names the object it stands on, or a field of it, but no item of a list.
    return fields[0] == wanted or (case.get("seenBy") == "cel" and
                                   wanted.startswith((fields[0] + ".", fields[0] + "[")))


def main():
    with open(os.path.join(SOURCE, "tests", "data", "schema_cases.json"), encoding="utf-8") as file:
        table = json.load(file)
    server = ApiServer()
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    status, answer = server.request("POST", "/api/v1/namespaces", json.dumps(namespace))
    if status not in (201, 409):
        sys.exit(f"FAILED: no namespace {NAMESPACE}: {answer['message']}")
    trial = Table(server, table)
    jobs = [(trial.try_object, case) for case in table["cases"]]
    jobs += [(trial.try_update, case) for case in table["updates"]]
    with concurrent.futures.ThreadPoolExecutor(IN_FLIGHT) as pool:
        got = pool.map(lambda job: job[1][0](job[0], job[1][1]), enumerate(jobs))
    failures = 0
    for (_, case), fields in zip(jobs, got):
        if not right(case, fields):
            failures += 1
            print(f"FAILED {case['kind']}: {case['name']}: wanted {case.get('path', 'accepted')} "
                  f"({case.get('seenBy', 'all')}), got {fields or 'accepted'}")
    print(f"schema_test.py: {len(jobs) - failures} of {len(jobs)} cases passed")
    return 1 if failures or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
