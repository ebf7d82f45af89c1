#!/usr/bin/env python3
"""Runs a command once a worker on the nodes that Weft picks, as srun does: worker i of the gang in
FILE is the process with WEFT_WORKER=i, started through LAUNCHER on its node.

    gang_run.py ADDRESS FILE [--launcher 'ssh {node}'] -- COMMAND...

FILE is a Placement (or a TrainingJob) of one gang; the nodes must be ones that Kubernetes does not
use meanwhile. Every process is told WEFT_WORKER, WEFT_WORKERS and WEFT_NODES (in worker order, with
commas). When one ends badly the others are ended too.

Exit codes: 0 every process ended well, 1 one did not or the call failed, 2 bad usage or input, 3 the
gang cannot be placed. Needs what watch_placements.py needs.
"""

import argparse
import shlex
import subprocess
import sys
import time

import grpc
from weft.v1 import placement_service_pb2 as pb
from weft.v1 import placement_service_pb2_grpc as rpc

DEADLINE_SECONDS = 10
LOOK_SECONDS = 0.1


def placement_of(address, manifests):
    with grpc.insecure_channel(address) as channel:
        stub = rpc.PlacementServiceStub(channel)
        answer = stub.Plan(pb.PlanRequest(manifests=manifests), timeout=DEADLINE_SECONDS)
    if len(answer.placements) != 1:
        raise ValueError(f"{len(answer.placements)} gangs wait in the file; one is wanted")
    return answer.placements[0]


def start(launcher, nodes, worker, command):
    """`env` on the far side sets what ssh would not carry."""
    told = [f"WEFT_WORKER={worker}", f"WEFT_WORKERS={len(nodes)}", f"WEFT_NODES={','.join(nodes)}"]
    near = shlex.split(launcher.format(node=nodes[worker]))
    far = ["env", *told, *command]
    # ssh hands a line to a shell.
    return subprocess.Popen(near + (list(map(shlex.quote, far)) if near[:1] == ["ssh"] else far))


def run(processes):
    """Whether all ended well."""
    try:
        while True:
            ended = [process.poll() for process in processes]
            if any(code not in (None, 0) for code in ended):
                return False
            if all(code == 0 for code in ended):
                return True
            time.sleep(LOOK_SECONDS)
    finally:
        for process in processes:
            if process.poll() is None:
                process.terminate()
        for process in processes:
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("file", type=argparse.FileType())
    parser.add_argument("--launcher", default="ssh {node}")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="after --")
    arguments = parser.parse_args()
    try:
        placement = placement_of(arguments.address, arguments.file.read())
    except ValueError as error:
        print(f"gang_run: {error}", file=sys.stderr)
        return 2
    except grpc.RpcError as error:
        print(f"gang_run: {error.details()}", file=sys.stderr)
        return 2 if error.code() == grpc.StatusCode.INVALID_ARGUMENT else 1
    if not placement.nodes:
        print(f"gang_run: {placement.message}", file=sys.stderr)
        return 3
    nodes = list(placement.nodes)
    well = run([start(arguments.launcher, nodes, worker, arguments.command)
                for worker in range(len(nodes))])
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
