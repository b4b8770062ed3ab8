"""The nginx server of all clients: a dedicated one on loopback, with its state in a temporary directory."""

import contextlib
import subprocess
import time
import urllib.request
from pathlib import Path

from .machine import SERVER_CORE, Failure, find

BODY = b"Hello, world!"
PLAIN = "http://127.0.0.1:28090"
TLS = "https://127.0.0.1:28091"  # sessions can be resumed
TLS_WITHOUT_RESUMPTION = "https://127.0.0.1:28092"
MANY_ORIGINS = "http://127.0.0.1:28093"  # as well as 127.0.1.1 and so on
MANY_ORIGINS_COUNT = 1000

START_SECONDS_MAX = 10

CONF = """
daemon off;
worker_processes 1;
worker_cpu_affinity {affinity};
worker_rlimit_nofile 20000;
pid {state}/pid;
error_log {state}/error.log;
events {{ worker_connections 19000; }}
http {{
  access_log off;
  default_type text/plain;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  keepalive_timeout 300s;
  client_body_temp_path {state}/body;
  proxy_temp_path {state}/proxy;
  fastcgi_temp_path {state}/fastcgi;
  uwsgi_temp_path {state}/uwsgi;
  scgi_temp_path {state}/scgi;
  server {{
    listen 127.0.0.1:28090 backlog=16384;
{locations}
  }}
  server {{
    listen 127.0.0.1:28094;
    location = /length {{ return 200 "$http_x_length"; }}
  }}
{more}
}}
"""

LOCATIONS = """
    location / {{ return 200 "{body}"; }}
    # A response that caches store.
    location = /fresh {{ add_header Cache-Control max-age=3600; return 200 "{body}"; }}
    # Closes the connection after the response.
    location = /once {{ keepalive_timeout 0; return 200 "{body}"; }}
    location /files/ {{ alias {files}/; }}
    location /coded/gzip/ {{ alias {files}/; add_header Content-Encoding gzip; }}
    location /coded/br/ {{ alias {files}/; add_header Content-Encoding br; }}
    # Responds with the length of the body after reading all of it into memory: nginx proxies a request only then,
    # whereas a plain `return` would respond before.
    location = /upload {{
      client_max_body_size 0;
      client_body_buffer_size 1025m;
      client_body_timeout 600s;
      proxy_pass http://127.0.0.1:28094/length;
      proxy_method GET;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-Length $content_length;
    }}
    # Rejects requests after a delay, so that each concurrent request has an open connection.
    location = /refused {{ auth_basic "nobody"; auth_basic_user_file {state}/nobody; auth_delay {pause}s; }}
"""

REFUSAL_SECONDS = 5

TLS_SERVER = """
  server {{
    listen 127.0.0.1:{port} ssl backlog=16384;
    ssl_certificate {state}/server.crt;
    ssl_certificate_key {state}/server.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    {resumption}
{locations}
  }}
"""
RESUMES = "ssl_session_cache shared:sessions:10m;"
DOES_NOT_RESUME = "ssl_session_cache off; ssl_session_tickets off;"


def many_hosts():
    """Returns the hosts of the origins; the clients derive the same ones from 127.0.0.1."""
    return [f"127.0.{1 + index // 250}.{1 + index % 250}" for index in range(MANY_ORIGINS_COUNT)]


def configuration(state, needs):
    locations = LOCATIONS.format(state=state, files=f"{state}/files", body=BODY.decode(), pause=REFUSAL_SECONDS)
    more = ""
    if "certificate" in needs:
        for port, resumption in [(28091, RESUMES), (28092, DOES_NOT_RESUME)]:
            more += TLS_SERVER.format(port=port, state=state, resumption=resumption, locations=locations)
    if "origins" in needs:
        # Listens on each address, since 0.0.0.0 would include other interfaces than loopback.
        listens = "".join(f"    listen {host}:28093;\n" for host in ["127.0.0.1", *many_hosts()])
        more += f"  server {{\n{listens}{locations}\n  }}\n"
    return CONF.format(state=state, affinity=f"{1 << SERVER_CORE:b}", locations=locations, more=more)


class Server:
    """The running nginx that serves all clients."""

    def __init__(self, state, needs):
        conf, self.log = Path(state) / "nginx.conf", Path(state) / "error.log"
        conf.write_text(configuration(state, needs))
        (Path(state) / "nobody").touch()
        command = [find("nginx"), "-p", state, "-e", str(self.log), "-c", str(conf)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.wait_until_up()
        except BaseException:
            self.stop()
            raise
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.worker = children[0]

    def wait_until_up(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Failure(f"nginx exited; is one of the ports 28090 to 28094 in use? Its log is:\n{self.log.read_text()}")
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{PLAIN}/", timeout=1) as response:
                if response.read() == BODY:
                    return
            time.sleep(0.05)
        raise Failure(f"nginx doesn't respond at {PLAIN}; its log is:\n{self.log.read_text()}")

    def ticks(self):
        """Returns the CPU time that the worker has used so far, in ticks."""
        fields = Path(f"/proc/{self.worker}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])  # utime, stime

    def stop(self):
        self.process.terminate()
        self.process.wait()
