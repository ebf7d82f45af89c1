"""Makes the names of new pods late on real nodes: CoreDNS hears of everything a while later.

    with LateDns(1): ...

While it lasts, CoreDNS reads from the API server through a program that holds back each answer. A
name is then not known (NXDOMAIN), as on a cluster whose CoreDNS has much to do; it is not an answer
that comes late, which every client waits for.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time

BRIDGE, API_PORT, LATE_PORT = "10.99.0.1", 443, 8443
RELOADED = "Reloading complete"
PATIENCE_SECONDS = 60
CHUNK_BYTES = 1 << 16


class LateDns:
    def __init__(self, seconds):
        self.seconds, self.program = seconds, None
        self.folder = os.path.dirname(os.environ["KUBECONFIG"])
        self.corefile = os.path.join(self.folder, "Corefile")
        self.usual = read(self.corefile)

    def __enter__(self):
        room = f"--net=/proc/{self._process('gateway')}/ns/net"
        # pylint: disable-next=consider-using-with
        self.program = subprocess.Popen(["nsenter", room, sys.executable, "-B", __file__,
                                         str(self.seconds)], stdout=subprocess.PIPE)
        self.program.stdout.readline()  # it listens
        [usual] = re.findall(r"kubeconfig (\S+)", self.usual)
        late = os.path.join(self.folder, "certificates", "coredns-late.kubeconfig")
        write(late, read(usual).replace(f":{API_PORT}", f":{LATE_PORT}"))
        self._load(self.usual.replace(usual, late))
        return self

    def __exit__(self, *_):
        self._load(self.usual)
        self.program.kill()
        self.program.wait()
        self.program.stdout.close()

    def _process(self, name):
        return int(read(os.path.join(self.folder, "pids", name)).split()[0])

    def _load(self, corefile):
        log = os.path.join(self.folder, "logs", "coredns.log")
        write(self.corefile, corefile)
        before = read(log).count(RELOADED)
        os.kill(self._process("coredns"), signal.SIGUSR1)
        end = time.monotonic() + PATIENCE_SECONDS
        while read(log).count(RELOADED) == before:
            if time.monotonic() > end:
                raise AssertionError(f"CoreDNS does not load its Corefile: {read(log)[-500:]}")
            time.sleep(0.1)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", opener=lambda *file: os.open(*file, 0o600)) as file:
        file.write(text)


async def hold_back(reader, writer, seconds):
    """Hands on what comes, each part so much later; in order."""
    loop, parts = asyncio.get_running_loop(), asyncio.Queue()

    async def take():
        while data := await reader.read(CHUNK_BYTES):
            parts.put_nowait((loop.time() + seconds, data))
        parts.put_nowait((loop.time() + seconds, b""))
    taking = asyncio.ensure_future(take())
    try:
        while True:
            when, data = await parts.get()
            await asyncio.sleep(when - loop.time())
            if not data:
                return
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # the other side has gone
    finally:
        taking.cancel()
        writer.close()


async def serve(seconds):
    async def connect(reader, writer):
        from_api, to_api = await asyncio.open_connection(BRIDGE, API_PORT)
        await asyncio.gather(hold_back(reader, to_api, 0), hold_back(from_api, writer, seconds))
    server = await asyncio.start_server(connect, BRIDGE, LATE_PORT)
    print("listens", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
