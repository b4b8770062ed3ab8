"""upstream.py PORT|FILE: the other service, which returns users as JSON and prints the traceparent of each request.

Listens on PORT, or on a free port that it writes into FILE.
"""
import http.server
import os
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        print(self.headers.get("traceparent"), flush=True)
        number = int(self.path.rsplit("/", 1)[1])
        if number == 1:
            time.sleep(5)
        body = b'{"id": %d, "name": "Ada"}' % number
        self.send_response(404 if number == 404 else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


port = int(sys.argv[1]) if sys.argv[1].isdigit() else 0
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
server.daemon_threads = True
if port == 0:
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
