#!/usr/bin/env python3
"""Gives the labels of the last nodes that `weft fabric generate` printed to real nodes.

    real_labels.py --nodes FILE --real N --gpus N --output LABELS

Removes those nodes, and the pods on them, from FILE, and writes a line for each into LABELS, in the
form of the kubelet's --node-labels. kwok leaves nodes with weft.test/kubelet alone. The label with
a node's number of GPUs is that of the real nodes, not that of the design.
"""

import argparse
import re

# A kubelet sets this one itself.
OWN = "kubernetes.io/hostname"
# Of GPU feature discovery, which labels nodes without GPUs with neither a count nor a product.
COUNT, OF_GPUS = "nvidia.com/gpu.count", "nvidia.com/gpu."


def name_of(document):
    return re.search(r'^  name: "?([-.\w]+)', document, re.MULTILINE).group(1)


def labels_of(document, gpus):
    block = re.search(r"^  labels:\n((?:    .*\n)+)", document, re.MULTILINE).group(1)
    pairs = dict(line.strip().split(": ", 1) for line in block.splitlines())
    pairs = {key.strip('"'): value.strip('"') for key, value in pairs.items()}
    pairs.pop(OWN, None)
    if gpus == 0:
        pairs = {key: value for key, value in pairs.items() if not key.startswith(OF_GPUS)}
    elif COUNT in pairs:
        pairs[COUNT] = str(gpus)
    return ",".join(f"{key}={value}" for key, value in
                    {**pairs, "weft.test/kubelet": "real"}.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", required=True)
    parser.add_argument("--real", type=int, required=True)
    parser.add_argument("--gpus", type=int, required=True, help="of each real node")
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    with open(arguments.nodes, encoding="utf-8") as file:
        documents = [one for one in re.split(r"^---\n", file.read(), flags=re.MULTILINE) if one]
    nodes = [one for one in documents if re.search(r"^kind: Node$", one, re.MULTILINE)]
    taken = nodes[len(nodes) - arguments.real:]
    names = {name_of(one) for one in taken}
    on_them = [one for one in documents for name in names
               if re.search(rf'^  nodeName: "?{re.escape(name)}"?$', one, re.MULTILINE)]
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.writelines(labels_of(one, arguments.gpus) + "\n" for one in taken)
    with open(arguments.nodes, "w", encoding="utf-8") as file:
        file.writelines("---\n" + one for one in documents if one not in taken + on_them)


if __name__ == "__main__":
    main()
