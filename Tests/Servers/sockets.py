"""WebSocket servers for the tests, on loopback: the packages websockets and aiohttp, with the same pages.

sockets.py websockets PORT TLS_PORT CERTIFICATE KEY
sockets.py aiohttp PORT
"""
import asyncio
import base64
import http
import ssl
import sys

LOGIN = "Basic " + base64.b64encode(b"user:pass").decode()
SUBPROTOCOLS = ["v1", "v2"]


async def serve_websockets(port, tls_port, certificate, key):
    from websockets.asyncio.server import serve

    def answer(connection, request):
        """Returns a response in place of the handshake's, or None."""
        if request.path == "/login" and request.headers.get("Authorization") != LOGIN:
            response = connection.respond(http.HTTPStatus.UNAUTHORIZED, "log in\n")
            response.headers["WWW-Authenticate"] = 'Basic realm="sockets"'
            return response
        if request.path == "/redirect":
            response = connection.respond(http.HTTPStatus.FOUND, "elsewhere\n")
            response.headers["Location"] = "/echo"
            return response
        return connection.respond(http.HTTPStatus.NOT_FOUND, "no\n") if request.path == "/missing" else None

    def select(connection, offered):
        return next((name for name in SUBPROTOCOLS if name in offered), None)

    async def handle(socket):
        path = socket.request.path
        if path == "/close":
            await socket.send("last")
            await socket.close(4000, "bye")
        elif path == "/abort":
            await socket.send("last")
            socket.transport.abort()
        elif path == "/ping":
            await (await socket.ping(b"payload"))
            await socket.send("pong")
        elif path == "/many":
            for number in range(300):
                await socket.send(bytes([number & 0xFF]) * 64 * 1024)
            await socket.close()
        else:
            async for message in socket:
                await socket.send(message)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    options = {"process_request": answer, "select_subprotocol": select, "max_size": None}
    async with serve(handle, "127.0.0.1", port, **options), serve(handle, "127.0.0.1", tls_port, ssl=context, **options):
        await asyncio.Future()


async def serve_aiohttp(port):
    from aiohttp import WSMsgType, web

    async def handle(request):
        path = request.path
        if path == "/login" and request.headers.get("Authorization") != LOGIN:
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="sockets"'})
        if path == "/redirect":
            raise web.HTTPFound("/echo")
        if path == "/missing":
            raise web.HTTPNotFound
        socket = web.WebSocketResponse(protocols=SUBPROTOCOLS, max_msg_size=0)
        await socket.prepare(request)
        if path == "/close":
            await socket.send_str("last")
            await socket.close(code=4000, message=b"bye")
        elif path == "/abort":
            await socket.send_str("last")
            request.transport.abort()
        elif path == "/ping":
            await socket.ping(b"payload")
            await socket.send_str("pong")
        elif path == "/many":
            for number in range(300):
                await socket.send_bytes(bytes([number & 0xFF]) * 64 * 1024)
            await socket.close()
        else:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    await socket.send_str(message.data)
                elif message.type == WSMsgType.BINARY:
                    await socket.send_bytes(message.data)
        return socket

    application = web.Application()
    application.router.add_get("/{page}", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Future()


name, port, *rest = sys.argv[1:]
asyncio.run(serve_aiohttp(int(port)) if name == "aiohttp" else serve_websockets(int(port), int(rest[0]), *rest[1:]))
