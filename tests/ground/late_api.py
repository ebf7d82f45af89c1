"""A way to the API server that holds back each of its answers: what late_dns.py puts between it and
CoreDNS. Runs in the network that joins the nodes.

    late_api.py ADDRESS SECONDS
"""

import asyncio
import sys

API_PORT, LATE_PORT = 443, 8443
CHUNK_BYTES = 1 << 16


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


async def serve(address, seconds):
    async def connect(reader, writer):
        from_api, to_api = await asyncio.open_connection(address, API_PORT)
        await asyncio.gather(hold_back(reader, to_api, 0), hold_back(from_api, writer, seconds))
    server = await asyncio.start_server(connect, address, LATE_PORT)
    print("listens", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], float(sys.argv[2])))
