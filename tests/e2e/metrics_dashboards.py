"""The chart's dashboards on a Prometheus that has seen a day: every query must return data."""

import json
import math
import os
import re

from metrics_prometheus import FILES

FOLDER = os.path.join(FILES, "dashboards")


def dashboards():
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            yield name, json.load(file)


def with_values(expression, values):
    for name, value in values.items():
        expression = expression.replace(f"${name}", value)
    assert "$" not in expression, expression
    return expression


def has_data(prometheus, expression, day):
    """At any moment of the day."""
    begin, end = day
    answer = prometheus.ask("query_range", query=expression, start=begin, end=end, step="1s")
    return any(math.isfinite(float(value))
               for series in answer["result"] for _, value in series["values"])


def check_variables(test, prometheus, name, dashboard, values):
    """Each offers the value that the queries are asked with."""
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "datasource":
            continue
        query = with_values(variable["query"]["query"], values)
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
        offered = prometheus.ask(f"label/{label}/values", **{"match[]": series})
        wanted = values[variable["name"]]
        test.assertTrue(offered and (wanted == ".*" or wanted in offered),
                        f"{name}: variable {variable['name']} offers {offered}")


def check_dashboards(test, prometheus, day, values):
    """`values`: of the dashboards' variables."""
    values = {"__rate_interval": "10s", "__range": "60s", **values}
    empty, queries = [], 0
    for name, dashboard in dashboards():
        check_variables(test, prometheus, name, dashboard, values)
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                test.assertEqual(target["datasource"]["uid"], "${datasource}")
                queries += 1
                if not has_data(prometheus, with_values(target["expr"], values), day):
                    empty.append(f"{name}: {panel['title']}: {target['expr']}")
    test.assertEqual(empty, [])
    test.assertGreater(queries, 40)
    return queries
