"""The HTTP side of an origin whose connections are authenticated by a handshake, such as NTLM or Negotiate."""
import base64
import hashlib
import http.server
import ssl


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers a request of an authenticated connection with the user, and with the number of bytes in its body. A subclass
    defines the scheme and the handshake.
    """

    protocol_version = "HTTP/1.1"
    scheme = None
    application_data = None
    user = None

    def step(self, message):
        """Continues the handshake with the client's message. Sets `user` if the connection is authenticated. Returns the next
        message for the client, or None.
        """
        raise NotImplementedError

    def do_GET(self):
        # Reads the content first, so that the connection stays usable.
        length = self.headers.get("Content-Length")
        content = self.rfile.read(int(length)) if length else self.chunks()
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        reply = None
        if scheme == self.scheme:
            self.user = None
            try:
                reply = self.step(base64.b64decode(token))
            except Exception as error:
                self.log_error("refused: %r", error)
        text = f"{self.user} sent {len(content)} bytes on {self.client_address[1]}\n" if self.user else "refused\n"
        self.answer(200 if self.user else 401, reply, text.encode())

    do_POST = do_PUT = do_HEAD = do_GET

    def chunks(self):
        content = b""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return content
        while size := int(self.rfile.readline(), 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def answer(self, status, reply, content):
        self.send_response(status)
        if reply:
            self.send_header("WWW-Authenticate", f"{self.scheme} {base64.b64encode(reply).decode()}")
        elif status == 401:
            self.send_header("WWW-Authenticate", self.scheme)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def serve(handler, port, certificate=None, key=None):
    """Serves on 127.0.0.1, with TLS if there is a certificate. `application_data` is then the channel binding (RFC 5929 §4)."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), handler)
    server.daemon_threads = True
    if certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        with open(certificate) as file:
            der = ssl.PEM_cert_to_DER_cert(file.read())
        handler.application_data = b"tls-server-end-point:" + hashlib.sha256(der).digest()
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
