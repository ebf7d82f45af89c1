"""Events of a watch on the wire: lines of JSON, or Kubernetes' protobuf with a length before each."""

import json

MAGIC = b"k8s\0"
LENGTH_BYTES = 4
BYTES = 2  # protobuf's wire type of strings and messages


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """{number: the last value} of a message."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            found[number], at = varint(data, at)
        elif wire == BYTES:
            size, at = varint(data, at)
            found[number], at = data[at:at + size], at + size
        else:
            at += {1: 8, 5: 4}[wire]
    return found


def message(values):
    """Of {number: bytes or int}."""
    made = b""
    for number, value in values.items():
        if isinstance(value, int):
            made += encode(number << 3) + encode(value)
        else:
            made += encode(number << 3 | BYTES) + encode(len(value)) + value
    return made


def encode(value):
    made = b""
    while value > 127:
        made, value = made + bytes([value & 127 | 128]), value >> 7
    return made + bytes([value])


def wrapped(kind, raw):
    """A message as the API server writes it: with its kind around it."""
    return MAGIC + message({1: message({1: b"v1", 2: kind}), 2: raw})


def unwrapped(data):
    return fields(data[len(MAGIC):]).get(2, b"")


def frames(answer):
    """The events of an answer, each as it came."""
    if "protobuf" not in (answer.getheader("Content-Type") or ""):
        yield from answer
        return
    while len(head := answer.read(LENGTH_BYTES)) == LENGTH_BYTES:
        yield head + answer.read(int.from_bytes(head, "big"))


def is_binary(frame):
    return frame[:1] in (b"\0", b"\1")


def subject_of(frame):
    """(type of an event, namespace/name of the object that it is about)"""
    if is_binary(frame):
        event = fields(frame[LENGTH_BYTES:][len(MAGIC):]) if (
            frame[LENGTH_BYTES:].startswith(MAGIC)) else {2: frame[LENGTH_BYTES:]}
        event = fields(event[2])
        meta = fields(fields(unwrapped(fields(event[2])[1])).get(1, b""))
        return event[1].decode(), f"{meta.get(3, b'').decode()}/{meta.get(1, b'').decode()}"
    try:
        event = json.loads(frame)
    except ValueError:
        return "", ""
    meta = event.get("object", {}).get("metadata", {})
    return event.get("type", ""), f"{meta.get('namespace', '')}/{meta.get('name', '')}"


def expired(binary):
    """The event that a server ends a watch of a version with that it has no more."""
    words = "too old resource version"
    if not binary:
        return json.dumps({"type": "ERROR", "object": {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": words, "reason": "Expired", "code": 410}}).encode() + b"\n"
    status = wrapped(b"Status", message({1: b"", 2: b"Failure", 3: words.encode(), 4: b"Expired",
                                         6: 410}))
    event = message({1: b"ERROR", 2: message({1: status})})
    return len(event).to_bytes(LENGTH_BYTES, "big") + event
