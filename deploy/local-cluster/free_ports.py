#!/usr/bin/env python3
"""Prints ports of the loopback on which no server listens now.

    deploy/local-cluster/free_ports.py NUMBER

None is one that the system gives to connections: such a port could be taken between this choice and
the start of the server, or while a server that has died starts again.
"""

import random
import socket
import sys

LOWEST = 10_000


def free_ports(number):
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="utf-8") as file:
        end = int(file.read().split()[0])
    choice = list(range(min(LOWEST, end // 2), end))
    random.shuffle(choice)
    held = []
    while len(held) < number:
        one = socket.socket()
        try:
            one.bind(("127.0.0.1", choice.pop()))
            held.append(one)
        except OSError:  # taken, or privileged
            one.close()
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def free_port():
    return free_ports(1)[0]


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])), sep="\n")
