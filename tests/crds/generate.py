#!/usr/bin/env python3
"""Writes crds/*.yaml.

    go mod download k8s.io/kubernetes@v1.36.3
    tests/crds/generate.py [SWAGGER]
    tests/crds/generate.py --keep-template

SWAGGER is api/openapi-spec/swagger.json of the Kubernetes whose PodTemplateSpec the TrainingJob
carries; default: the one in Go's module cache. With --keep-template it is the one that crds/ has
now, so neither Go nor a network is needed. The result is checked in; tests hold it equal to the C++
decoders.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True  # the tree stays as it was

import kinds  # noqa: E402
import yaml_text  # noqa: E402
from pod_template import pod_template  # noqa: E402

KUBERNETES = "v1.36.3"


def default_swagger():
    cache = subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True)
    module = os.path.join(cache.stdout.strip(), "k8s.io", "kubernetes@" + KUBERNETES)
    return os.path.join(module, "api", "openapi-spec", "swagger.json")


def kept_template(folder):
    import yaml  # only here: the rest needs no package

    with open(os.path.join(folder, "weft.dev_trainingjobs.yaml"), encoding="utf-8") as file:
        definition = yaml.safe_load(file)
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema["properties"]["spec"]["properties"]["workers"]["properties"]["template"]


def template_of(arguments, folder):
    if arguments == ["--keep-template"]:
        return kept_template(folder)
    return pod_template(arguments[0] if arguments else default_swagger())


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "crds")
    template = template_of(sys.argv[1:], folder)
    os.makedirs(folder, exist_ok=True)
    note = "# Written by tests/crds/generate.py; do not edit.\n"
    from_kubernetes = f"# PodTemplateSpec as in Kubernetes {KUBERNETES}.\n"
    apply = "# Apply with `kubectl apply --server-side`: too large for a last-applied annotation.\n"
    files = {
        "trainingjobs": (note + from_kubernetes + apply, kinds.training_job(template)),
        "placements": (note, kinds.placement()),
        "fabrics": (note, kinds.fabric()),
    }
    for name, (head, definition) in files.items():
        with open(os.path.join(folder, f"weft.dev_{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(head + yaml_text.dump(definition))


if __name__ == "__main__":
    main()
