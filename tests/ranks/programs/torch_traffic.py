"""A known number of bytes on the wire: gradients of a data-parallel step, and for tensor x data
also the all-reduces of a tensor-parallel layer.

    torch_traffic.py TENSOR STEPS ELEMENTS ACTIVATIONS     of fp32 gradients and activations

Between two barriers, and a pause that lets acknowledgements settle, each worker's eth0 carries the
steps alone; its own counter is read before and after, by rank 0 of the worker.
"""

import os
import sys
import time

import torch
import torch.distributed as dist


def sent():
    with open("/proc/net/dev", encoding="utf-8") as file:
        line = next(line for line in file if line.strip().startswith("eth0:"))
    return int(line.split(":")[1].split()[8])


def ring_all_reduce(tensor, group, members):
    """Reduce-scatter, then all-gather, to the next neighbour alone: what the model assumes."""
    size, me = len(members), members.index(dist.get_rank())
    chunks = list(tensor.chunk(size))
    to, source = members[(me + 1) % size], members[(me - 1) % size]
    for turn in range(2 * (size - 1)):
        reducing = turn < size - 1
        out = (me - turn if reducing else me + size - turn) % size
        into = (out - 1) % size
        theirs = torch.empty_like(chunks[into])
        request = dist.isend(chunks[out].contiguous(), to, group=group)
        dist.recv(theirs, source, group=group)
        request.wait()
        chunks[into].copy_(chunks[into] + theirs if reducing else theirs)


def measured(steps, step):
    dist.barrier()
    time.sleep(1)  # what is measured is a counter that other traffic moves too
    before = sent()
    for _ in range(steps):
        step()
    after = sent()
    dist.barrier()
    return after - before


def main():
    tensor, steps, elements, activations = (int(word) for word in sys.argv[1:])
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    data_groups = [[r for r in range(world) if r % tensor == t] for t in range(tensor)]
    tensor_groups = [list(range(first, first + tensor)) for first in range(0, world, tensor)]
    made = {tuple(group): dist.new_group(group) for group in data_groups + tensor_groups}
    data = next(group for group in data_groups if rank in group)
    layer = next(group for group in tensor_groups if rank in group)
    gradients, activation = torch.ones(elements), torch.ones(activations)

    def library():
        if tensor > 1:
            dist.all_reduce(activation, group=made[tuple(layer)])
        dist.all_reduce(gradients, group=made[tuple(data)])

    def ring():
        if tensor > 1:
            ring_all_reduce(activation, made[tuple(layer)], layer)
        ring_all_reduce(gradients, made[tuple(data)], data)

    for name, step in (("library", library), ("ring", ring)):
        step()  # connections are made
        count = measured(steps, step)
        if os.environ["LOCAL_RANK"] == "0":
            line = f"traffic {name} worker {os.environ['WEFT_WORKER_INDEX']} sent {count}\n"
            os.write(1, line.encode())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
