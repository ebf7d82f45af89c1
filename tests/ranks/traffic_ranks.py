#!/usr/bin/env python3
"""The bytes that steps put on the wire against those that status.traffic predicts for them."""

import os
import re

from rank_scenarios import PROGRAMS, RankScenarios, installed
from operator_lib import quantity
from operator_scenarios import main

RANKS, STEPS, LAYERS, HIDDEN, SEQUENCE, BATCHES = 6, 4, 2, 64, 64, 8
PARAMETERS = 3_000_000
LINE = re.compile(r"traffic (\w+) worker (\d+) sent (\d+)")
PERCENT_AT_MOST = 10


class Traffic(RankScenarios):
    image = "registry.example/torch:1"
    gpus_each, workers = 1, RANKS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images.add(cls.image, [installed("torch")], OMP_NUM_THREADS="1")

    def judge(self, tensor):
        data = RANKS // tensor
        elements = PARAMETERS // tensor
        # Four all-reduces of a layer's activations for each micro-batch: DESIGN, section 4.
        activations = 4 * LAYERS * BATCHES * SEQUENCE * HIDDEN
        transformer = {
            "parameters": PARAMETERS, "layers": LAYERS, "hiddenSize": HIDDEN, "attentionHeads": 4,
            "vocabularySize": 128, "sequenceLength": SEQUENCE, "microBatchSize": 1,
            "globalBatchSize": BATCHES * data, "precision": "FP32", "gradientPrecision": "FP32"}
        program = os.path.join(PROGRAMS, "torch_traffic.py")
        job = self.gang({"type": "Torch"}, ["torchrun", program, str(tensor), str(STEPS),
                                            str(elements), str(activations)], name="steps",
                        model={"type": "Transformer", "transformer": transformer},
                        parallelism={"tensor": tensor})
        self.apply(job)
        self.ended("steps")
        traffic = self.cluster.get("placements", self.space, "steps-1")["status"]["traffic"]
        predicted = quantity(traffic["crossNodeBytes"])
        sent = {"library": 0, "ring": 0}
        for name, _, count in LINE.findall("\n".join(self.logs("steps"))):
            sent[name] += int(count) / STEPS
        for name, count in sent.items():
            print(f"tensor {tensor}, data {data}, {name}: {count / 1e6:.2f} MB a step sent, "
                  f"{predicted / 1e6:.2f} MB predicted, {100 * count / predicted - 100:+.1f} %",
                  flush=True)
        self.assertLess(abs(sent["ring"] / predicted - 1), PERCENT_AT_MOST / 100)
        return sent, predicted

    def test_data_parallel(self):
        self.judge(1)

    def test_tensor_and_data_parallel(self):
        self.judge(2)


if __name__ == "__main__":
    main()
