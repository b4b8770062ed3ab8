"""Measures the CPU time that httpx needs for a request that hishel's SQLite storage answers, and for one over loopback.

  hishel-cost.py URL FOLDER
"""

import sys
import time
from pathlib import Path

import httpx
from hishel import SqliteStorage
from hishel.httpx import CacheClient

REQUESTS, ROUNDS = 500, 3


def cost(client: httpx.Client, url: str) -> float:
    """Returns the lowest average of a few rounds, in microseconds."""
    for _ in range(20):
        client.get(url)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(REQUESTS):
            response = client.get(url)
            assert len(response.content) == 10_240
        best = min(best, (time.process_time() - start) / REQUESTS * 1e6)
    return best


url, folder = sys.argv[1], Path(sys.argv[2])
# Without trust_env=False, a proxy in the environment would receive the requests.
with httpx.Client(trust_env=False) as plain:
    loopback = cost(plain, url)
# With rfc=True, hishel follows RFC 9111, as the cache that it is compared with; by default, it ignores Cache-Control.
with CacheClient(storage=SqliteStorage(database_path=folder / "hishel.db"), rfc=True, trust_env=False) as cached:
    hit = cost(cached, url)
    assert cached.get(url).extensions["caching"]["from_cache"]
print("hishel with httpx, the same body:")
print(f"  loopback, no cache   {loopback:7.0f} µs")
print(f"  hit in SQLite        {hit:7.0f} µs  {hit / loopback:.2f} of loopback")
