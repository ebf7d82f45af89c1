"""The chart's dashboards against Grafana's own schema: read into its types and written again, nothing
may be lost or come out otherwise.

usage: dashboards_schema.py WHEEL-OF-grafana-foundation-sdk DASHBOARD.json...
"""

import copy
import json
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
# pylint: disable=import-error,wrong-import-position
from grafana_foundation_sdk.cog.encoder import JSONEncoder  # noqa: E402
from grafana_foundation_sdk.cog.plugins import register_default_plugins  # noqa: E402
from grafana_foundation_sdk.models.dashboard import Dashboard  # noqa: E402


def differences(written, read, place=""):
    """What of `written` is not in `read`, which may have defaults beside it."""
    if isinstance(written, dict) and isinstance(read, dict):
        for key, value in written.items():
            if key not in read:
                yield f"{place}.{key}: no such field"
            else:
                yield from differences(value, read[key], f"{place}.{key}")
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for number, pair in enumerate(zip(written, read)):
            yield from differences(*pair, f"{place}[{number}]")
    elif written != read:
        yield f"{place}: {written!r} is read as {read!r}"


def faults(dashboard):
    try:
        read = json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return [f"cannot be read: {error}"]
    return list(differences(dashboard, read))


def check_that_it_can_fail(dashboard):
    def spoiled(change):
        copied = copy.deepcopy(dashboard)
        change(copied)
        return faults(copied)
    first = next(i for i, panel in enumerate(dashboard["panels"]) if panel["type"] == "timeseries")
    for change in (
            lambda d: d.update(panles=[]),
            lambda d: d["panels"][first]["gridPos"].update(width=3),
            lambda d: d["panels"][first]["options"]["legend"].update(placment="bottom"),
            lambda d: d["panels"][first]["fieldConfig"]["defaults"]["custom"].update(lineWith=1),
            lambda d: d["panels"][first]["targets"][0].update(expression="up"),
            lambda d: d["templating"]["list"][0].update(quary="x")):
        assert spoiled(change), "a misspelt field went unnoticed"


def main():
    register_default_plugins()
    found = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            dashboard = json.load(file)
        for fault in faults(dashboard):
            print(f"{path}: {fault}")
            found += 1
        check_that_it_can_fail(dashboard)
        ids = [panel["id"] for panel in dashboard["panels"]]
        assert len(ids) == len(set(ids)), f"{path}: two panels of one id"
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
