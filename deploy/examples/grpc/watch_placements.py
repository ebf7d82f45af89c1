#!/usr/bin/env python3
"""Follows what a weft-operator decides: one line a change, and again from where it broke off.

    watch_placements.py ADDRESS [--namespace NAME] [--changes N]

ADDRESS may stand for several operators (dns:///NAME:PORT): it goes round until it finds the leader.

Needs grpcio and the stubs of proto/weft/v1:

    pip install grpcio grpcio-tools
    python3 -m grpc_tools.protoc -I proto --python_out=. --grpc_python_out=. \\
        proto/weft/v1/placement_service.proto
"""

import argparse
import sys
import time

import grpc
from weft.v1 import placement_service_pb2 as pb
from weft.v1 import placement_service_pb2_grpc as rpc

PAUSE_SECONDS = 1
# CANCELLED: a server that had to end before the call did.
AGAIN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED,
         grpc.StatusCode.CANCELLED)


def follow(stub, namespace):
    """Every change; begins anew where the server has forgotten the cursor."""
    cursor = ""
    while True:
        try:
            request = pb.WatchPlacementsRequest(namespace=namespace, cursor=cursor)
            for change in stub.WatchPlacements(request):
                cursor = change.cursor
                yield change
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.OUT_OF_RANGE:
                cursor = ""
            elif error.code() not in AGAIN:
                raise
        time.sleep(PAUSE_SECONDS)


def line(change):
    placement = change.placement
    name = f"{placement.namespace}/{placement.name}"
    if change.change == pb.WatchPlacementsResponse.CHANGE_SYNCED:
        return "SYNCED"
    if change.change == pb.WatchPlacementsResponse.CHANGE_GONE:
        return f"GONE {name}"
    return f"SET {name} {','.join(placement.nodes)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--namespace", default="", help="default: all")
    parser.add_argument("--changes", type=int, help="end after so many")
    arguments = parser.parse_args()
    going_round = [("grpc.lb_policy_name", "round_robin")]
    with grpc.insecure_channel(arguments.address, going_round) as channel:
        stub = rpc.PlacementServiceStub(channel)
        for number, change in enumerate(follow(stub, arguments.namespace), start=1):
            print(line(change), flush=True)
            if number == arguments.changes:
                return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
