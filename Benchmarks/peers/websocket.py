"""WebSocket messages through websockets or aiohttp: connections that each send a message and wait until the server has returned it.

websocket.py websockets|aiohttp [--requests N] [--in-flight N] [--warm-up N] --body-bytes N URL
"""

import argparse
import asyncio
import contextlib
import re
import resource
import time
from functools import partial
from pathlib import Path


@contextlib.asynccontextmanager
async def open_websockets(url, count):
    from websockets.asyncio.client import connect

    async with contextlib.AsyncExitStack() as stack:
        connect_one = partial(connect, url, compression=None, max_size=None)
        yield [await stack.enter_async_context(connect_one()) for _ in range(count)]


async def echo_websockets(connection, message):
    await connection.send(message)
    return await connection.recv()


@contextlib.asynccontextmanager
async def open_aiohttp(url, count):
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield [await session.ws_connect(url, max_msg_size=0) for _ in range(count)]


async def echo_aiohttp(connection, message):
    await connection.send_bytes(message)
    return await connection.receive_bytes()


async def exchange(count, connections, echo, message):
    """Returns the latency of each message in seconds."""
    latencies = []

    async def repeat(connection):
        nonlocal count
        while count > 0:
            count -= 1
            begin = time.perf_counter()
            if await echo(connection, message) != message:
                raise SystemExit("another message was returned")
            latencies.append(time.perf_counter() - begin)

    await asyncio.gather(*(repeat(connection) for connection in connections))
    return sorted(latencies)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package", choices=["websockets", "aiohttp"])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--warm-up", type=int, default=0)
    parser.add_argument("--body-bytes", type=int, required=True)
    parser.add_argument("url")
    options = parser.parse_args()
    connect, echo = {"websockets": (open_websockets, echo_websockets), "aiohttp": (open_aiohttp, echo_aiohttp)}[options.package]
    message = bytes(index & 0xFF for index in range(options.body_bytes))
    async with connect(options.url, options.in_flight) as connections:
        await exchange(options.warm_up, connections, echo, message)
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        latencies = await exchange(options.requests, connections, echo, message)
        seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF)
    resident = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]
    user, system, count = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime, len(latencies)
    percentiles = " ".join(
        f"{name}_us={latencies[min(count - 1, int(share * count))] * 1e6:.1f}"
        for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999)))
    print(
        f"requests={count} seconds={seconds:.6f} requests_per_second={count / seconds:.6f} user_seconds={user:.6f}"
        f" system_seconds={system:.6f} cpu_us_per_request={(user + system) / count * 1e6:.6f} {percentiles}"
        f" peak_rss_kib={resident}")


asyncio.run(main())
