"""Small words for structural schemas."""

QUANTITY = (
    r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$"
)
LABEL_NAME = r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?"
LABEL_KEY = r"^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?/)?" + LABEL_NAME + "$"
LABEL_VALUE = r"^([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$"
RESOURCE = r"^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?/" + LABEL_NAME + "$"
SUBDOMAIN = r"^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$"
JOB_NAME = r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$"
FABRIC_NAME = r"^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$"
LEVEL_NAME = r"^[A-Za-z]([-_.A-Za-z0-9]{0,38}[A-Za-z0-9])?$"

# The bounds of operator/api/names.h.
DEGREE = (1, 2**20)
COUNT = (0, 2**20)
WIDTH = (1, 2**30)
WATTS = (1, 10**9)
SECONDS = (1, 2**31 - 1)
SECONDS_OR_ZERO = (0, 2**31 - 1)


def described(schema, description):
    return {"description": description, **schema} if description else schema


def integer(bounds, description="", default=None):
    schema = {"type": "integer", "format": "int64", "minimum": bounds[0], "maximum": bounds[1]}
    if default is not None:
        schema["default"] = default
    return described(schema, description)


def number(bounds, description=""):
    return described({"type": "number", "minimum": bounds[0], "maximum": bounds[1]}, description)


def boolean(description, default):
    return described({"type": "boolean", "default": default}, description)


def text(description="", pattern=None, longest=253, shortest=None, default=None):
    schema = {"type": "string", "maxLength": longest}
    if shortest is not None:
        schema["minLength"] = shortest
    if pattern:
        schema["pattern"] = pattern
    if default is not None:
        schema["default"] = default
    return described(schema, description)


def enum(names, description="", default=None):
    schema = {"type": "string", "enum": list(names)}
    if default is not None:
        schema["default"] = default
    return described(schema, description)


def quantity(least, description):
    schema = {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        "pattern": QUANTITY,
        "minimum": least,
    }
    return described(schema, description)


def rule(condition, message, field=None):
    out = {"rule": condition, "message": message}
    if field:
        out["fieldPath"] = field
    return out


def object_of(properties, required=(), description="", rules=(), default=None):
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    if rules:
        schema["x-kubernetes-validations"] = list(rules)
    if default is not None:
        schema["default"] = default
    return described(schema, description)


def list_of(items, most, description="", least=None, kind="atomic", keys=(), rules=(),
            default=None):
    schema = {"type": "array", "maxItems": most, "x-kubernetes-list-type": kind, "items": items}
    if least is not None:
        schema["minItems"] = least
    if keys:
        schema["x-kubernetes-list-map-keys"] = list(keys)
    if rules:
        schema["x-kubernetes-validations"] = list(rules)
    if default is not None:
        schema["default"] = default
    return described(schema, description)


def label_key(description="a node label's key"):
    return text(description, LABEL_KEY, longest=317)


def level_name(description, reserved=("outside",)):
    names = ", ".join(f"'{name}'" for name in reserved)
    schema = text(description, LEVEL_NAME, longest=40)
    schema["x-kubernetes-validations"] = [
        rule(f"!(self in [{names}])", "is reserved: " + ", ".join(reserved))
    ]
    return schema


def selector(description, comparisons=False):
    operators = ["In", "NotIn", "Exists", "DoesNotExist"] + (["Gt", "Lt"] if comparisons else [])
    rules = [
        rule("!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
             "In and NotIn need values"),
        rule("!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values)"
             " || size(self.values) == 0", "Exists and DoesNotExist take no values"),
    ]
    if comparisons:
        rules.append(rule(
            "!(self.operator in ['Gt', 'Lt']) || (has(self.values) && size(self.values) == 1"
            " && self.values[0].matches('^-?[0-9]{1,18}$'))", "Gt and Lt need one integer"))
    expression = object_of(
        {
            "key": label_key(""),
            "operator": enum(operators),
            "values": list_of(text(longest=253), 256),
        },
        ["key", "operator"], rules=rules)
    return object_of(
        {
            "matchLabels": {
                "type": "object",
                "maxProperties": 64,
                "additionalProperties": text(pattern=LABEL_VALUE, longest=63),
            },
            "matchExpressions": list_of(expression, 64),
        },
        description=description)


def conditions():
    condition = object_of(
        {
            "type": text(longest=316),
            "status": enum(["True", "False", "Unknown"]),
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "reason": text(longest=1024),
            "message": text(longest=32768),
        },
        ["type", "status"])
    return list_of(condition, 16, kind="map", keys=["type"])
