#!/usr/bin/env python3
"""What the chart's RBAC allows, as the world needs it (tests/world/chart_rights.json): the rules of the
operator's account, with the namespaces where they hold (absent: everywhere), and those of the roles
for people. Reads the rendered chart.

    chart_rights.py RENDERED.yaml            prints it
    chart_rights.py RENDERED.yaml --check    fails where the file in this folder differs

The chart is rendered as the world models it, by tests/world/chart_lib.sh.
"""

import difflib
import json
import os
import sys

import yaml

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chart_rights.json")
ACCOUNT = "system:serviceaccount:weft-system:weft-operator"
FOR_PEOPLE = ("weft-editor", "weft-admin")


def account_of(subject):
    if subject["kind"] != "ServiceAccount":
        return subject["name"]
    return f"system:serviceaccount:{subject['namespace']}:{subject['name']}"


def rights(things):
    roles = {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one["rules"]
             for one in things if one["kind"] in ("Role", "ClusterRole")}
    rules = []
    for binding in things:
        if binding["kind"] not in ("RoleBinding", "ClusterRoleBinding"):
            continue
        if ACCOUNT not in map(account_of, binding["subjects"]):
            continue
        space, role = binding["metadata"].get("namespace"), binding["roleRef"]
        of_space = space if role["kind"] == "Role" else None
        for rule in roles[role["kind"], of_space, role["name"]]:
            everywhere = binding["kind"] == "ClusterRoleBinding"
            rules.append(dict(rule) if everywhere else {**rule, "namespaces": [space]})
    return {ACCOUNT: rules,
            **{name: roles["ClusterRole", None, name] for name in FOR_PEOPLE}}


def text(found):
    """A rule a line."""
    parts = [f" {json.dumps(name)}: [\n" + ",\n".join("  " + json.dumps(rule) for rule in rules) + "\n ]"
             for name, rules in found.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        made = text(rights([one for one in yaml.safe_load_all(file) if one]))
    if sys.argv[2:] != ["--check"]:
        sys.stdout.write(made)
        return 0
    with open(FILE, encoding="utf-8") as file:
        known = file.read()
    sys.stdout.writelines(difflib.unified_diff(
        known.splitlines(True), made.splitlines(True), "chart_rights.json", "the chart"))
    return 0 if made == known else "run tests/world/chart_rights.sh and look at what has changed"


if __name__ == "__main__":
    sys.exit(main())
