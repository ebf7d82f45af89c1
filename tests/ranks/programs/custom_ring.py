"""The ring of workers of a framework that Weft does not know: TCP, and nothing but WEFT_*.

Workers ask for names and connections until they are there, as a program has to whose peers start
when they start.
"""

import os
import socket
import sys
import time

from ring_line import my_node, say

me, world = int(os.environ["WEFT_WORKER_INDEX"]), int(os.environ["WEFT_WORKERS"])
if os.environ.get("RING_FAILS_ONCE") == str(me) and os.environ["WEFT_ATTEMPT"] == "1":
    sys.exit(3)
PORT = int(os.environ["WEFT_MASTER_PORT"])
PATIENCE_SECONDS = 60


def host(worker):
    job = os.environ["WEFT_JOB"]
    return f"{job}-{worker:0{len(str(world - 1))}}.{job}"


def connect(worker):
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return socket.create_connection((host(worker), PORT), timeout=PATIENCE_SECONDS)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def read(connection, count):
    data = b""
    while len(data) < count:
        data += connection.recv(count - len(data)) or sys.exit("the neighbour has ended")
    return data


server = socket.create_server(("", PORT))
to_next = connect((me + 1) % world)
from_last = server.accept()[0]

# The sum of all ranks goes around twice: it is added up, then told.
if me > 0:
    total = int.from_bytes(read(from_last, 4), "big")
else:
    total = 0
to_next.sendall((total + me).to_bytes(4, "big"))
if me == 0:
    total = int.from_bytes(read(from_last, 4), "big")
    to_next.sendall(total.to_bytes(4, "big"))
    read(from_last, 4)
else:
    told = read(from_last, 4)
    total = int.from_bytes(told, "big")
    to_next.sendall(told)
assert total == world * (world - 1) // 2, total
first_collective = time.time()
to_next.sendall(my_node())
say(me, world, read(from_last, len(my_node())), first_collective)
