"""Creates the files that the server serves, in a temporary directory: zeros, JSON, compressed text, certificates."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .machine import BUILD

ZEROS_BYTES = 1 << 30
TEXT_BYTES = 50_000_000
JSON_BYTES = {"1k": 1 << 10, "100k": 100 << 10, "160k": 160 << 10, "wide": 100 << 10}

# The in-memory file system for downloads, used if it has enough space.
MEMORY = Path("/dev/shm")


def make(state, needs):
    """Creates the required files in `state`, readable by the server."""
    files = Path(state) / "files"
    files.mkdir()
    makers = {"zeros": make_zeros, "json": make_json, "text": make_text}
    for name, maker in makers.items():
        if name in needs:
            print(f"creating {name}", file=sys.stderr)
            maker(files)
    if "certificate" in needs:
        make_certificates(Path(state))


def folder_for_downloads(default):
    """Returns the directory for downloads: MEMORY if it has enough space, otherwise `default`."""
    has_room = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 * ZEROS_BYTES
    return MEMORY if has_room else Path(default)


def make_zeros(files):
    with open(files / "zeros", "wb") as file:
        file.truncate(ZEROS_BYTES)  # sparse: takes no disk space


def make_json(files):
    for name, size in JSON_BYTES.items():
        (files / f"{name}.json").write_text(wide(size) if name == "wide" else page(size))


def page(size):
    """Returns a page of items as an API might send it, of exactly `size` bytes; load-api defines its type."""
    items = []
    while len(dumped(items)) < size - 64:
        number = len(items) + 1
        items.append({
            "id": number, "name": f"Räucherlachs Nr. {number}", "price": 3.5 + number, "isInStock": number % 3 > 0,
            "tags": ["fish", "smoked"], "note": None if number % 2 else "sold by weight",
        })  # fmt: skip
    while len(dumped(items)) > size:
        items.pop()
    return dumped(items) + " " * (size - len(dumped(items)))


def wide(size):
    """Returns a list of objects of 60 keys in snake case, of exactly `size` bytes. The clients' types name 14 of the keys."""
    objects = []
    while True:
        number = len(objects)
        values = [f"value of {number}, with some text in it", number, None, [1, 2, 3]]
        fields = {f"field{field}_name": values[field % 4] for field in range(1, 58)}
        dates = {"created_at": "2024-03-05T06:07:08Z", "updated_at": "2025-11-12T13:14:15Z"}
        text = json.dumps([*objects, {**dates, **fields, "owner_id": number}], indent=1)
        if len(text) > size:
            text = json.dumps(objects, indent=1)
            return text + " " * (size - len(text))
        objects.append({**dates, **fields, "owner_id": number})


def dumped(items):
    return json.dumps({"total": len(items), "items": items}, separators=(",", ":"))


def make_text(files):
    """Creates log lines that compress about as well as real ones: plain, in gzip and in brotli."""
    number, lines, length = 12345, [], 0
    while length < TEXT_BYTES:
        number = (number * 1103515245 + 12345) % (1 << 31)  # deterministic, so every run has the same lines
        line = (
            f"2026-03-{number % 28 + 1:02}T{number % 24:02}:{number // 7 % 60:02}:{number // 11 % 60:02}Z"
            f" GET /articles/{number // 3 % 50000}?page={number // 5 % 40} {(200, 200, 304, 404)[number // 13 % 4]}"
            f" {number // 17 % 90000} bytes\n")
        lines.append(line)
        length += len(line)
    text = "".join(lines).encode()[:TEXT_BYTES]
    (files / "text").write_bytes(text)
    (files / "text.gzip").write_bytes(gzip.compress(text, compresslevel=6, mtime=0))
    subprocess.run([BUILD / "coding", "br", "encode", files / "text", files / "text.br"], check=True)


def make_certificates(state):
    """Creates a certificate authority and its certificate for 127.0.0.1; both are deleted with the directory."""
    subject = ["-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    openssl("req", "-x509", *subject, "-subj", "/CN=Throwaway", "-keyout", state / "ca.key", "-out", state / "ca.crt")
    openssl(
        "req", "-x509", *subject, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
        "-addext", "basicConstraints=critical,CA:FALSE", "-CA", state / "ca.crt", "-CAkey", state / "ca.key",
        "-keyout", state / "server.key", "-out", state / "server.crt",
    )  # fmt: skip


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stderr=subprocess.DEVNULL)
