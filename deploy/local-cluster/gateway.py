#!/usr/bin/env python3
"""Joins a local cluster's servers, which listen on this machine's loopback, with its real nodes.

    gateway.py --api 127.0.0.1:PORT --proxy 127.0.0.1:PORT --socket FILE --nodes N

The nodes live in network namespaces of their own. This process makes the one that joins them, and is
what holds it: a bridge at 10.99.0.1, and for node number N a route to its pods, 10.244.N.0/24. The
machine's own network stays as it is. Two ways lead through:
- connections to 10.99.0.1:443 and to the ClusterIP of the Service kubernetes, 10.96.0.1:443, go to
  the API server;
- the proxy's address and the Unix socket FILE lead an HTTP CONNECT into the namespace. The API server
  uses the socket as its egress for kubelets and webhooks, Prometheus the address for pods. Addresses
  of the loopback stay on this machine.
"""

import argparse
import asyncio
import ctypes
import os
import socket
import subprocess

BRIDGE = "10.99.0.1"
KUBERNETES_SERVICE = "10.96.0.1"
CLONE_NEWNET = 0x40000000
CHUNK_BYTES = 1 << 16

libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


class Network:
    """A network namespace, by a descriptor of it. A socket stays in the one where it was made."""

    def __init__(self):
        self.descriptor = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def enter(self):
        check(libc.setns(self.descriptor, CLONE_NEWNET), "setns")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def make_room(nodes):
    check(libc.unshare(CLONE_NEWNET), "unshare")
    ip("link", "set", "lo", "up")
    ip("address", "add", f"{KUBERNETES_SERVICE}/32", "dev", "lo")
    ip("link", "add", "nodes", "type", "bridge")
    ip("address", "add", f"{BRIDGE}/24", "dev", "nodes")
    ip("link", "set", "nodes", "up")
    with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as forward:
        forward.write("1")
    for number in range(1, nodes + 1):
        ip("route", "add", f"10.244.{number}.0/24", "via", f"10.99.0.{10 + number}")
    return Network()


async def copy(reader, writer):
    try:
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


class Gateway:
    def __init__(self, machine, room, api):
        self.machine, self.room, self.api = machine, room, api

    async def connect(self, network, address):
        network.enter()
        ours = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.room.enter()
        ours.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(ours, address)
            return await asyncio.open_connection(sock=ours)
        except OSError:
            ours.close()
            raise

    async def join(self, reader, writer, network, address, greeting=b""):
        try:
            there, to_there = await self.connect(network, address)
        except OSError as error:
            writer.write(f"HTTP/1.1 502 {error.strerror}\r\n\r\n".encode() if greeting else b"")
            writer.close()
            return
        writer.write(greeting)
        await asyncio.gather(copy(reader, to_there), copy(there, writer))
        for one in (writer, to_there):
            one.close()

    async def to_the_api_server(self, reader, writer):
        await self.join(reader, writer, self.machine, self.api)

    async def to_the_nodes(self, reader, writer):
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = request.split(None, 2)
            host, _, port = target.decode().rpartition(":")
            if method != b"CONNECT":
                raise ValueError("not CONNECT")
        except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()
            return
        network = self.machine if host.startswith("127.") else self.room
        await self.join(reader, writer, network, (host, int(port)), b"HTTP/1.1 200 OK\r\n\r\n")


async def serve(gateway, listener, path):
    for address in (BRIDGE, KUBERNETES_SERVICE):
        await asyncio.start_server(gateway.to_the_api_server, address, 443)
    await asyncio.start_server(gateway.to_the_nodes, sock=listener)
    if os.path.exists(path):  # of a gateway that was killed
        os.remove(path)
    await asyncio.start_unix_server(gateway.to_the_nodes, path)
    await asyncio.Event().wait()


def address_of(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--api", required=True, type=address_of, metavar="HOST:PORT")
    parser.add_argument("--proxy", required=True, type=address_of, metavar="HOST:PORT")
    parser.add_argument("--socket", required=True, metavar="FILE")
    parser.add_argument("--nodes", type=int, required=True)
    arguments = parser.parse_args()
    listener = socket.create_server(arguments.proxy)
    machine = Network()
    gateway = Gateway(machine, make_room(arguments.nodes), arguments.api)
    asyncio.run(serve(gateway, listener, arguments.socket))


if __name__ == "__main__":
    main()
