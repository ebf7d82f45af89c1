#!/usr/bin/env python3
"""The bytes that steps put on the wire against those that status.traffic predicts for them: by each
worker's interface in all, and by its connections to each other worker."""

import collections
import os
import re

from images import PROGRAMS
from rank_scenarios import RankScenarios, installed
import real_nodes
from operator_lib import quantity
from operator_scenarios import main

RANKS = real_nodes.COUNT or 6  # four or six
STEPS, LAYERS, HIDDEN, SEQUENCE, BATCHES = 4, 2, 64, 64, 8
PARAMETERS = 3_000_000
TOTAL = re.compile(r"traffic (\S+) worker (\d+) eth0 (\d+)")
PAIR = re.compile(r"traffic (\S+) worker (\d+) to (\d+) (\d+)")
PERCENT_AT_MOST = 10


def pair_of(worker, peer):
    """Whichever way round: links carry both ways alike."""
    return min(worker, peer), max(worker, peer)


class Traffic(RankScenarios):
    gpus_each, workers = 1, RANKS

    def predicted(self, tensor):
        """Bytes of a step by worker, and by pair of workers; one rank each."""
        traffic = self.cluster.get("placements", self.space, "steps-1")["status"]["traffic"]
        groups = {"Tensor": lambda r: range(r - r % tensor, r - r % tensor + tensor),
                  "Data": lambda r: range(r % tensor, RANKS, tensor)}
        by_worker, pairs = [0] * RANKS, collections.Counter()
        for flow in traffic["flows"]:
            for rank in range(RANKS):
                group = groups[flow["axis"]](rank)
                after = group[(group.index(rank) + 1) % len(group)]
                by_worker[rank] += quantity(flow["bytesPerGPU"])
                pairs[pair_of(rank, after)] += quantity(flow["bytesPerGPU"])
        return by_worker, pairs

    def sent(self):
        """The same, measured, by the name of the all-reduce."""
        logs = "\n".join(self.logs("steps"))
        found = {name: ([0] * RANKS, collections.Counter()) for name, *_ in TOTAL.findall(logs)}
        for name, worker, count in TOTAL.findall(logs):
            found[name][0][int(worker)] = int(count) / STEPS
        for name, worker, peer, count in PAIR.findall(logs):
            found[name][1][pair_of(int(worker), int(peer))] += int(count) / STEPS
        return found

    def run_steps(self, framework, command, tensor):
        transformer = {
            "parameters": PARAMETERS, "layers": LAYERS, "hiddenSize": HIDDEN, "attentionHeads": 4,
            "vocabularySize": 128, "sequenceLength": SEQUENCE, "microBatchSize": 1,
            "globalBatchSize": BATCHES * RANKS // tensor, "precision": "FP32",
            "gradientPrecision": "FP32"}
        self.apply(self.gang(framework, command, name="steps", parallelism={"tensor": tensor},
                             model={"type": "Transformer", "transformer": transformer}))
        self.ended("steps")
        predicted, sent = self.predicted(tensor), self.sent()
        for name, (by_worker, pairs) in sent.items():
            wire, want = sum(by_worker), sum(predicted[0])
            placed = sum(pairs[pair] for pair in predicted[1]) / sum(pairs.values())
            print(f"{name}, tensor {tensor}, data {RANKS // tensor}: {wire / 1e6:.2f} MB a step on "
                  f"the wire, {want / 1e6:.2f} MB predicted, {100 * wire / want - 100:+.1f} %; "
                  f"{100 * placed:.1f} % of it between the predicted pairs", flush=True)
        return predicted, sent

    def assert_as_predicted(self, predicted, sent):
        """What each worker sends, and what goes between each two of them."""
        for is_, should_be in zip(sent[0], predicted[0]):
            self.assertLess(abs(is_ / should_be - 1), PERCENT_AT_MOST / 100, sent[0])
        for pair in set(sent[1]) | set(predicted[1]):
            difference = abs(sent[1][pair] - predicted[1][pair])
            self.assertLess(difference / predicted[0][pair[0]], PERCENT_AT_MOST / 100, pair)

    def torch(self, tensor):
        self.image = "registry.example/torch:1"
        self.images.add(self.image, [installed("torch")], OMP_NUM_THREADS="1")
        # Four all-reduces of a layer's activations for each micro-batch.
        activations = 4 * LAYERS * BATCHES * SEQUENCE * HIDDEN
        program = os.path.join(PROGRAMS, "torch_traffic.py")
        command = ["torchrun", program, *map(str, (tensor, STEPS, PARAMETERS // tensor,
                                                   activations))]
        predicted, sent = self.run_steps({"type": "Torch"}, command, tensor)
        self.assertEqual(set(sent), {"gloo", "ring"})
        for one in sent.values():
            self.assert_as_predicted(predicted, one)

    def test_data_parallel(self):
        self.torch(1)

    def test_tensor_and_data_parallel(self):
        self.torch(2)

    def mpi(self, release, implementation, *launcher):
        self.add_framework(release)
        program = os.path.join(PROGRAMS, "mpi_traffic.py")
        predicted, sent = self.run_steps({"type": "MPI", "mpi": {"implementation": implementation}},
                                         ["mpirun", *launcher, "python", program, release,
                                          str(STEPS), str(PARAMETERS)], 1)
        return predicted, sent[release]

    def halving_and_doubling(self, arrays, *mpi):
        """Rabenseifner's algorithm: what it sends, in arrays, against the ring. Four ranks send six
        arrays either way, and between which of them is each library's own choice. Six ranks are two
        more than four: `arrays` against the ring's ten."""
        predicted, sent = self.mpi(*mpi)
        ratio = {4: 1, 6: arrays / 10}[RANKS]
        self.assertAlmostEqual(sum(sent[0]) / sum(predicted[0]), ratio, delta=0.02)
        if RANKS == 6:
            self.assertLess(sum(sent[1][pair] for pair in predicted[1]),
                            0.7 * sum(sent[1].values()))

    def test_open_mpi_told_to_go_round_the_ring(self):
        self.assert_as_predicted(*self.mpi(
            "openmpi4", "OpenMPI", "--mca", "coll_tuned_use_dynamic_rules", "1",
            "--mca", "coll_tuned_allreduce_algorithm", "4"))

    def test_open_mpi_4(self):
        self.halving_and_doubling(11, "openmpi4", "OpenMPI")

    def test_open_mpi_5(self):
        self.halving_and_doubling(11, "openmpi5", "OpenMPI")

    def test_mpich(self):
        self.halving_and_doubling(10, "mpich", "MPICH")

    def test_intel_mpi(self):
        self.halving_and_doubling(10, "intelmpi", "Intel", "-genvnone")


if __name__ == "__main__":
    main()
