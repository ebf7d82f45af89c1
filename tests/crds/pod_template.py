"""The structural schema of a PodTemplateSpec, from the OpenAPI document of Kubernetes."""

import json

CORE = "io.k8s.api.core.v1."
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"

# What a structural schema cannot hold, or does not need.
DROPPED = {
    "description",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-unions",
    "x-kubernetes-group-version-kind",
}
# Formats that the API server's structural schemas know.
FORMATS = {"int32", "int64", "double", "byte", "date-time"}
# Keys of merged lists must be required or have a default: those of the Go types, else "".
KEY_DEFAULTS = {"protocol": "TCP"}

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


def int_or_string():
    return {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
    }


def embedded_metadata():
    text_map = {"type": "object", "additionalProperties": {"type": "string"}}
    return {
        "type": "object",
        "properties": {
            "annotations": text_map,
            "finalizers": {"type": "array", "items": {"type": "string"}},
            "labels": text_map,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
    }


class Converter:
    def __init__(self, definitions):
        self.definitions = definitions

    def named(self, name):
        if name == QUANTITY:
            return {**int_or_string(), "pattern": QUANTITY_PATTERN}
        if name == INT_OR_STRING:
            return int_or_string()
        if name == META + "ObjectMeta":
            return embedded_metadata()
        return self.convert(self.definitions[name])

    def convert(self, schema):
        if "$ref" in schema:
            return self.named(schema["$ref"].rsplit("/", 1)[1])
        out = {}
        for key, value in sorted(schema.items()):
            if key in DROPPED or (key == "format" and value not in FORMATS):
                continue
            if key == "properties":
                out[key] = {name: self.convert(sub) for name, sub in sorted(value.items())}
            elif key in ("items", "additionalProperties"):
                out[key] = self.convert(value)
            else:
                out[key] = value
        self.settle_list_keys(out)
        return out

    @staticmethod
    def settle_list_keys(schema):
        for key in schema.get("x-kubernetes-list-map-keys", []):
            items = schema["items"]
            if key not in items.get("required", []):
                items["properties"][key].setdefault("default", KEY_DEFAULTS.get(key, ""))


def pod_template(swagger_path):
    with open(swagger_path, encoding="utf-8") as file:
        definitions = json.load(file)["definitions"]
    schema = Converter(definitions).named(CORE + "PodTemplateSpec")
    schema["required"] = ["spec"]
    # The gang restarts as a whole.
    schema["properties"]["spec"]["properties"]["restartPolicy"]["enum"] = ["Never"]
    return schema
