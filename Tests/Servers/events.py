"""Event streams and lines by the package aiohttp, for the tests, on loopback.

events.py PORT
"""
import asyncio
import json
import sys

from aiohttp import web

gates = {}


def gate(request):
    """The event that POST /gates/NAME sets, and for which the stream of /gated/NAME waits."""
    return gates.setdefault(request.match_info["name"], asyncio.Event())


async def begin(request, content_type="text/event-stream"):
    response = web.StreamResponse(headers={"Content-Type": content_type, "Cache-Control": "no-cache"})
    await response.prepare(request)
    return response


async def ticks(request):
    """Sends two events for each connection, and then breaks it in the middle of a third. After six events, 204."""
    first = int(request.headers.get("Last-Event-ID", "0")) + 1
    if first > 6:
        return web.Response(status=204)
    response = await begin(request)
    await response.write(b"retry: 1\n\n: comment\r\n")
    for number in range(first, first + 2):
        await response.write(f"id: {number}\r\nevent: tick\r\ndata: {json.dumps({'number': number})}\r\n\r\n".encode())
    await response.write(f"id: {first + 2}\ndata: unfin".encode())
    request.transport.close()
    return response


async def chat(request):
    """Sends each word of the prompt in an event, and then [DONE], as the APIs of language models do."""
    prompt = await request.json()
    response = await begin(request)
    for word in prompt["prompt"].split():
        await response.write(f"data: {json.dumps({'text': word})}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


async def gated(request):
    """Sends an event, and another one when the gate is open."""
    response = await begin(request)
    await response.write(b"data: first\n\n")
    await gate(request).wait()
    await response.write(b"data: second\n\n")
    return response


async def open_gate(request):
    gate(request).set()
    return web.Response(text="open\n")


async def lines(request):
    """Sends a thousand lines of JSON, whose strings contain other line separators."""
    response = await begin(request, "application/x-ndjson")
    for number in range(1000):
        await response.write((json.dumps({"number": number, "text": "\u2028\u2029\u0085"}, ensure_ascii=False) + "\n").encode())
    return response


app = web.Application()
app.add_routes([
    web.get("/ticks", ticks), web.post("/chat", chat), web.get("/gated/{name}", gated), web.post("/gates/{name}", open_gate),
    web.get("/lines", lines),
])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
