#!/usr/bin/env python3
"""Measures on a GPU what predictions assume: how well matrix products use it, and a real training step.

    tests/bench/gpu_calibrate.py [--device cuda|cpu] [--weft build/bin/weft] [--peak TFLOPS]
                                 [--small] [-o table|json]

Needs PyTorch; `$(tests/ranks/install.sh torch)/bin/python3` has it, with CUDA.

1. The four matrix products of a Transformer layer, forward, for hidden sizes from 512 to 16,384: their
   share of the peak, and the two numbers of operator/outlook/calibration.h that fit best:
   efficiency = matrix_efficiency width / (width + half_width).
2. One optimizer step of a small GPT on one GPU (BF16, PyTorch's attention, fused AdamW), against what
   `weft outlook` predicts of the same model.

--small is a form of a second that shows that all of it works, also on a CPU; its numbers mean nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import torch

WIDTHS = (512, 1024, 2048, 4096, 8192, 16384)
TOKENS = 8192
PRODUCTS = ((1, 3), (1, 1), (1, 4), (4, 1))  # of a layer: width in and out, in hidden sizes
ROUNDS, WARM_UP = 10, 3
GPT = {"layers": 12, "hiddenSize": 2048, "attentionHeads": 16, "vocabularySize": 32768,
       "sequenceLength": 2048, "microBatchSize": 4}
SMALL_GPT = {"layers": 2, "hiddenSize": 64, "attentionHeads": 2, "vocabularySize": 256,
             "sequenceLength": 32, "microBatchSize": 2}


class Clock:
    """Seconds of a call, on the device's own clock where it has one."""

    def __init__(self, device):
        self.on_gpu = device == "cuda"

    def median(self, call, rounds=ROUNDS):
        for _ in range(WARM_UP):
            call()
        return statistics.median(self.once(call) for _ in range(rounds))

    def once(self, call):
        if not self.on_gpu:
            begin = time.perf_counter()
            call()
            return time.perf_counter() - begin
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3


def products(device, width, tokens, clock):
    """FLOP/s of the four products of a layer together."""
    flops = seconds = 0
    for into, out in PRODUCTS:
        a = torch.randn(tokens, into * width, device=device, dtype=torch.bfloat16)
        b = torch.randn(into * width, out * width, device=device, dtype=torch.bfloat16)
        seconds += clock.median(lambda a=a, b=b: a @ b)
        flops += 2 * tokens * into * out * width * width
    return flops / seconds


def fit(points):
    """(matrix_efficiency, half_width): 1 / efficiency is linear in 1 / width."""
    xs, ys = [1 / width for width, _ in points], [1 / share for _, share in points]
    mean_x, mean_y = statistics.mean(xs), statistics.mean(ys)
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
             / sum((x - mean_x) ** 2 for x in xs))
    most = 1 / (mean_y - slope * mean_x)
    return most, slope * most


class Layer(torch.nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(hidden) for _ in range(2))
        self.qkv = torch.nn.Linear(hidden, 3 * hidden, bias=False)
        self.out = torch.nn.Linear(hidden, hidden, bias=False)
        self.up = torch.nn.Linear(hidden, 4 * hidden, bias=False)
        self.down = torch.nn.Linear(4 * hidden, hidden, bias=False)

    def forward(self, x):
        batch, length, hidden = x.shape
        qkv = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, hidden // self.heads)
        q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(x.shape))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))


class Gpt(torch.nn.Module):
    def __init__(self, shape):
        super().__init__()
        hidden = shape["hiddenSize"]
        self.embedding = torch.nn.Embedding(shape["vocabularySize"], hidden)
        self.layers = torch.nn.ModuleList(
            Layer(hidden, shape["attentionHeads"]) for _ in range(shape["layers"]))
        self.norm = torch.nn.LayerNorm(hidden)
        self.head = torch.nn.Linear(hidden, shape["vocabularySize"], bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def training_step(device, shape, clock):
    """Seconds of one optimizer step, and the model's parameters."""
    model = Gpt(shape).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), fused=device == "cuda")
    tokens = torch.randint(shape["vocabularySize"], (
        shape["microBatchSize"], shape["sequenceLength"]), device=device)

    def step():
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(tokens)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    seconds = clock.median(step)
    return seconds, sum(one.numel() for one in model.parameters())


def predicted(weft, accelerator, shape, parameters):
    """What `weft outlook` says of the same model on one GPU of this kind."""
    job = {"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "gpt"},
           "spec": {"framework": {"type": "Torch"}, "accelerator": {"perWorker": 1},
                    "workers": {"replicas": 1, "template": {"spec": {"containers": [
                        {"name": "trainer", "image": "registry.example/train:1",
                         "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}},
                    "model": {"type": "Transformer", "transformer": {
                        "parameters": parameters, "keyValueHeads": shape["attentionHeads"],
                        "feedForwardSize": 4 * shape["hiddenSize"], "precision": "BF16",
                        "globalBatchSize": shape["microBatchSize"], **shape}}}}
    fabric = subprocess.run(
        [weft, "fabric", "generate", "--racks", "1", "--nodes-per-rack", "1", "--gpus-per-node", "1",
         "--accelerator", accelerator], check=True, capture_output=True, text=True).stdout
    told = subprocess.run([weft, "outlook", "-f", "-", "-o", "json"], check=True, text=True,
                          capture_output=True, input=f"{fabric}\n---\n{json.dumps(job)}\n").stdout
    return json.loads(told)[0]


def measure(arguments):
    clock, device, small = Clock(arguments.device), arguments.device, arguments.small
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    widths, tokens = ((32, 64, 128), 64) if small else (WIDTHS, TOKENS)
    rates = {width: products(device, width, tokens, clock) for width in widths}
    peak = arguments.peak * 1e12 or max(rates.values())
    most, half = fit([(width, rate / peak) for width, rate in rates.items()])
    shape = SMALL_GPT if small else GPT
    seconds, parameters = training_step(device, shape, clock)
    result = {"device": name, "torch": torch.__version__, "peakFlops": peak,
              "peakIs": "given" if arguments.peak else "the fastest product measured",
              "products": {str(width): rate for width, rate in rates.items()},
              "matrixEfficiency": most, "halfWidth": half,
              "step": {"model": {**shape, "parameters": parameters}, "measuredSeconds": seconds}}
    if arguments.weft:
        result["step"]["outlook"] = predicted(
            arguments.weft, arguments.accelerator or name, shape, parameters)
    return result


def table(result):
    peak = result["peakFlops"]
    lines = [f"{result['device']}, PyTorch {result['torch']}; peak {peak / 1e12:.4g} TFLOP/s "
             f"({result['peakIs']})", "", "| hidden size | TFLOP/s | of the peak |",
             "| --- | --- | --- |"]
    lines += [f"| {width} | {rate / 1e12:.4g} | {100 * rate / peak:.1f} % |"
              for width, rate in result["products"].items()]
    lines += ["", f"matrix_efficiency {result['matrixEfficiency']:.3f}, half_width "
              f"{result['halfWidth']:.0f}", "",
              f"training step: measured {1e3 * result['step']['measuredSeconds']:.2f} ms"]
    if outlook := result["step"].get("outlook"):
        low, step, high = (1e3 * outlook[f"stepSeconds{end}"] for end in ("Low", "", "High"))
        lines.append(f"weft outlook: {step:.2f} ms ({low:.2f} to {high:.2f}), by the constants of "
                     f"\"{outlook['calibration']['name']}\"")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--weft", default="", help="the program; else nothing is predicted")
    parser.add_argument("--accelerator", default="",
                        help="the name in Weft's table; default: the device's own")
    parser.add_argument("--peak", type=float, default=0,
                        help="the vendor's dense BF16 peak in TFLOP/s; default: the fastest product")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("gpu_calibrate.py: PyTorch sees no GPU here (--device cpu --small tries the rest)")
    if arguments.weft and not os.access(arguments.weft, os.X_OK):
        sys.exit(f"gpu_calibrate.py: {arguments.weft} is not there: build it first")
    result = measure(arguments)
    print(json.dumps(result, indent=1) if arguments.output == "json" else table(result))


if __name__ == "__main__":
    main()
