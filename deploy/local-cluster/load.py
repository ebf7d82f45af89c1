#!/usr/bin/env python3
"""Creates what `weft fabric generate` printed (standard input) in the cluster of $KUBECONFIG.

kubectl creates one object at a time; this keeps eight requests in flight. What exists stays.
"""

import concurrent.futures
import re
import sys

sys.dont_write_bytecode = True  # the tree stays as it was

from api_server import ApiServer  # noqa: E402

IN_FLIGHT = 8
COLLECTIONS = {
    "Fabric": "/apis/weft.dev/v1alpha1/fabrics",
    "Node": "/api/v1/nodes",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
}


def field(document, pattern):
    found = re.search(pattern, document, re.MULTILINE)
    return found.group(1) if found else ""


def with_kubelet(document):
    """What a kubelet adds to its node's status: kwok would take several writes for each node."""
    name = field(document, r'^  name: "?([-.\w]+)')
    return re.sub(r"^status:$", f"""status:
  addresses:
  - {{type: InternalIP, address: 10.64.0.1}}
  - {{type: Hostname, address: "{name}"}}
  nodeInfo:
    {{architecture: amd64, operatingSystem: linux, kubeletVersion: kwok, kubeProxyVersion: kwok,
    kernelVersion: kwok, containerRuntimeVersion: kwok}}""", document, flags=re.MULTILINE)


def create(server, document):
    """'created', 'existed', or what the server says."""
    kind = field(document, r"^kind: (\w+)$")
    path = COLLECTIONS[kind]
    if kind == "Node":
        document = with_kubelet(document)
    path = path.format(namespace=field(document, r"^  namespace: \"?([-\w]+)"))
    status, answer = server.request("POST", path + "?fieldValidation=Strict", document.encode(),
                                    "application/yaml")
    return {201: "created", 409: "existed"}.get(status, answer.get("message", status))


def main():
    documents = [one for one in re.split(r"^---\n", sys.stdin.read(), flags=re.MULTILINE) if one]
    server = ApiServer()
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(IN_FLIGHT) as pool:
        for kind in COLLECTIONS:  # nodes before the pods on them
            of_kind = [one for one in documents if field(one, r"^kind: (\w+)$") == kind]
            outcomes += pool.map(lambda one: create(server, one), of_kind)
    for refusal in sorted({one for one in outcomes if one not in ("created", "existed")}):
        print(f"load.py: {refusal}", file=sys.stderr)
    created, existed = outcomes.count("created"), outcomes.count("existed")
    print(f"{created} objects created" + (f", {existed} there before" if existed else ""))
    return 0 if created + existed == len(documents) else 1


if __name__ == "__main__":
    sys.exit(main())
