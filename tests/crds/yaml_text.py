"""YAML text of plain values: block style, keys in their own order, strings quoted in doubt."""

import json
import re

PLAIN = re.compile(r"^[A-Za-z_/.$][A-Za-z0-9_/.$()@-]*( [A-Za-z0-9_/.$(),-]+)*$")
WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"}


def scalar(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if PLAIN.match(value) and value.lower() not in WORDS and not re.match(r"^\.[0-9]", value):
        return value
    return json.dumps(value, ensure_ascii=False)


def lines(value, indent=0):
    pad = "  " * indent
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, (dict, list)) and item:
                yield f"{pad}{scalar(key)}:"
                yield from lines(item, indent + (0 if isinstance(item, list) else 1))
            else:
                yield f"{pad}{scalar(key)}: {empty_or_scalar(item)}"
    else:
        for item in value:
            if isinstance(item, (dict, list)) and item:
                inner = list(lines(item, indent + 1))
                yield f"{pad}- {inner[0].lstrip()}"
                yield from inner[1:]
            else:
                yield f"{pad}- {empty_or_scalar(item)}"


def empty_or_scalar(item):
    if isinstance(item, dict):
        return "{}"
    if isinstance(item, list):
        return "[]"
    return scalar(item)


def dump(value):
    return "\n".join(lines(value)) + "\n"
