// A WebSocket server on 127.0.0.1 that returns each message, for Benchmarks/echo. One thread, without compression.
//
// usage: echo PORT
//
// It reads whole frames of up to 1 MiB, of clients that send no fragments, and answers a Close frame with the same frame.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { input_max = (1 << 20) + 64, events_max = 256, backlog = 16384 };

struct connection {
  int socket, is_open;
  size_t used, size, unsent;
  uint8_t *input;
  uint8_t *output;
};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void drop(struct connection *c) {
  close(c->socket);
  free(c->input);
  free(c->output);
  free(c);
}

// Sends bytes, or keeps those that the kernel doesn't accept. Returns 0 if the connection is lost.
static int send_all(struct connection *c, const uint8_t *bytes, size_t count) {
  ssize_t sent = c->unsent ? 0 : send(c->socket, bytes, count, MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno != EAGAIN) return 0;
    sent = 0;
  }
  if ((size_t)sent < count) {
    size_t rest = count - sent;
    c->output = realloc(c->output, c->unsent + rest);
    if (!c->output) fail("realloc");
    memcpy(c->output + c->unsent, bytes + sent, rest);
    c->unsent += rest;
  }
  return 1;
}

static int send_rest(struct connection *c) {
  if (!c->unsent) return 1;
  ssize_t sent = send(c->socket, c->output, c->unsent, MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN;
  memmove(c->output, c->output + sent, c->unsent - sent);
  c->unsent -= sent;
  return 1;
}

// Answers the opening handshake (RFC 6455 §4.2). Returns the number of bytes of the request, or 0 if it is incomplete.
static size_t shake_hands(struct connection *c) {
  static const char name[] = "sec-websocket-key:", suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  c->input[c->used] = 0;
  char *end = strstr((char *)c->input, "\r\n\r\n");
  if (!end) return 0;
  char *key = strcasestr((char *)c->input, name);
  if (!key) return 0;
  key += sizeof name - 1;
  key += strspn(key, " ");
  char text[128];
  int length = snprintf(text, sizeof text, "%.24s%s", key, suffix);
  uint8_t hash[SHA_DIGEST_LENGTH];
  SHA1((uint8_t *)text, length, hash);
  uint8_t accept[64], reply[256];
  EVP_EncodeBlock(accept, hash, sizeof hash);
  int count = snprintf((char *)reply, sizeof reply,
                       "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Accept: %s\r\n\r\n", accept);
  c->is_open = 1;
  return send_all(c, reply, count) ? (size_t)(end + 4 - (char *)c->input) : 0;
}

// Returns the frame at `start` unmasked and without its mask. Returns the number of its bytes, 0 if it is incomplete, or -1 if the
// connection ends.
static ssize_t echo(struct connection *c, size_t start) {
  uint8_t *frame = c->input + start;
  size_t available = c->used - start, header = 2;
  if (available < 2) return 0;
  uint64_t count = frame[1] & 0x7f;
  if (count >= 126) header = count == 126 ? 4 : 10;
  if (available < header + 4) return 0;
  if (header > 2) {
    count = 0;
    for (size_t index = 2; index < header; index++) count = count << 8 | frame[index];
  }
  if (count > input_max - 64) return -1;
  if (available < header + 4 + count) return 0;
  uint8_t mask[4];
  memcpy(mask, frame + header, 4);
  uint8_t *payload = frame + header + 4;
  uint32_t word;
  memcpy(&word, mask, 4);
  size_t index = 0;
  for (; index + 4 <= count; index += 4) {
    uint32_t part;
    memcpy(&part, payload + index, 4);
    part ^= word;
    memcpy(payload + index, &part, 4);
  }
  for (; index < count; index++) payload[index] ^= mask[index & 3];
  // Moves the header to the payload, in place of the mask.
  uint8_t *reply = frame + 4;
  memmove(reply, frame, header);
  reply[1] &= 0x7f;
  if ((reply[0] & 0x0f) == 9) reply[0] = 0x8a;
  int is_sent = send_all(c, reply, header + count);
  return !is_sent || (reply[0] & 0x0f) == 8 ? -1 : (ssize_t)(header + 4 + count);
}

// Answers the bytes that have arrived. Returns 0 if the connection has ended.
static int serve(struct connection *c) {
  while (1) {
    if (c->size - c->used < 4096) {
      if (c->size >= input_max) return 0;
      c->size = c->size ? c->size * 2 : 8192;
      c->input = realloc(c->input, c->size + 1);
      if (!c->input) fail("realloc");
    }
    ssize_t received = recv(c->socket, c->input + c->used, c->size - c->used, 0);
    if (received < 0) return errno == EAGAIN;
    if (received == 0) return 0;
    c->used += received;
    size_t start = 0;
    if (!c->is_open) start = shake_hands(c);
    while (c->is_open) {
      ssize_t count = echo(c, start);
      if (count < 0) return 0;
      if (count == 0) break;
      start += count;
    }
    memmove(c->input, c->input + start, c->used - start);
    c->used -= start;
  }
}

int main(int argc, char **argv) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1, loop = epoll_create1(0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 0),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, backlog)) fail("listen");
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[events_max];
  epoll_ctl(loop, EPOLL_CTL_ADD, listener, &event);
  while (1) {
    int count = epoll_wait(loop, events, events_max, -1);
    for (int index = 0; index < count; index++) {
      struct connection *c = events[index].data.ptr;
      if (!c) {
        int socket;
        while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
          setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
          c = calloc(1, sizeof *c);
          if (!c) fail("calloc");
          c->socket = socket;
          event.events = EPOLLIN | EPOLLOUT | EPOLLET;
          event.data.ptr = c;
          epoll_ctl(loop, EPOLL_CTL_ADD, socket, &event);
        }
      } else if (!send_rest(c) || !serve(c)) {
        drop(c);
      }
    }
  }
}
