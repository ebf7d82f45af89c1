#!/usr/bin/env python3
"""Writes definitions of the Prometheus operator's kinds with the fields that the chart uses and no
others, so that the API server refuses a field that is misspelt or in the wrong place."""

import json

TEXT, FLAG, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
TEXTS = {"type": "object", "additionalProperties": TEXT}


def listed(item):
    return {"type": "array", "items": item}


def struct(**fields):
    required = [name.rstrip("_") for name in fields if name.endswith("_")]
    properties = {name.rstrip("_"): field for name, field in fields.items()}
    return {"type": "object", "properties": properties} | (
        {"required": required} if required else {})


RULE = struct(alert=TEXT, record=TEXT, expr_=TEXT, keep_firing_for=TEXT, labels=TEXTS,
              annotations=TEXTS)
RULE["properties"]["for"] = TEXT
SELECTOR = struct(matchLabels=TEXTS)
RELABELING = struct(action=TEXT, regex=TEXT, replacement=TEXT, sourceLabels=listed(TEXT),
                    targetLabel=TEXT)
KEY = struct(name_=TEXT, key_=TEXT)
TLS = {"insecureSkipVerify": FLAG, "serverName": TEXT, "ca": struct(secret=KEY, configMap=KEY)}
ENDPOINT = {
    "port": TEXT, "path": TEXT, "scheme": {"enum": ["http", "https"], "type": "string"},
    "interval": TEXT, "scrapeTimeout": TEXT, "authorization": struct(type=TEXT, credentials=KEY),
    "relabelings": listed(RELABELING), "metricRelabelings": listed(RELABELING)}
# Only a ServiceMonitor names files of Prometheus' own container.
SERVICE_ENDPOINT = ENDPOINT | {"bearerTokenFile": TEXT, "tlsConfig": struct(caFile=TEXT, **TLS)}
POD_ENDPOINT = ENDPOINT | {"tlsConfig": struct(**TLS)}
MONITOR = {"selector_": SELECTOR, "namespaceSelector": struct(matchNames=listed(TEXT)),
           "jobLabel": TEXT}
KINDS = {
    "PrometheusRule": struct(groups=listed(struct(
        name_=TEXT, interval=TEXT, limit=NUMBER, rules_=listed(RULE)))),
    "ServiceMonitor": struct(endpoints_=listed(struct(**SERVICE_ENDPOINT)), **MONITOR),
    "PodMonitor": struct(podMetricsEndpoints_=listed(struct(**POD_ENDPOINT)), **MONITOR),
}


def definition(kind, spec):
    plural = kind.lower() + "s"
    names = {"kind": kind, "listKind": kind + "List", "plural": plural, "singular": kind.lower()}
    schema = struct(apiVersion=TEXT, kind=TEXT, metadata={"type": "object"}, spec_=spec)
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.monitoring.coreos.com"},
            "spec": {"group": "monitoring.coreos.com", "names": names, "scope": "Namespaced",
                     "versions": [{"name": "v1", "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": schema}}]}}


print(json.dumps({"apiVersion": "v1", "kind": "List",
                  "items": [definition(kind, spec) for kind, spec in KINDS.items()]}))
