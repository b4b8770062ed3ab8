// Load through libcurl's multi interface with epoll, with the same work, checks and output line as Lupine's generators.
//
// This is libcurl's fastest interface: easy handles are reused, curl_multi_socket_action passes in the sockets, and a
// socket stays registered with epoll between transfers, which saves two system calls each. curl_multi_perform with
// curl_multi_poll took about the same CPU time, at 1, 64 and 512 concurrent requests.

#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 65536
#define EVENTS_MAX 256
#define URL_BYTES_MAX 256

// The options of the command line.
struct load {
  long requests, in_flight, warm_up, origins;
  long long body_bytes; // the expected length of each body; if below 0, each must equal `body`
  const char *upload;   // a file to send by POST; the response body must be its size
  long long upload_bytes;
  const char *authorities, *url;
};

struct slot {
  CURL *easy;
  size_t received;
  long index;   // the number of the request, starting at 0
  double begin; // the start of the request
  FILE *upload;
};

static struct load load = {.requests = 100000, .in_flight = 64, .origins = 1, .body_bytes = -1};
static char body[32] = "Hello, world!";
static uint32_t *latencies; // of the measured requests, in units of 0.1 µs; NULL before the measurement
static CURLM *multi;
static int poller;
static unsigned registered[DESCRIPTORS_MAX]; // the events registered with epoll, or 0
static double timer = -1;                    // the time of libcurl's next timeout, or below 0 for none
static long begun, wanted;                   // numbers of requests
static long running;

_Noreturn static void fail(const char *what, const char *why) {
  fprintf(stderr, "curl-multi: %s: %s\n", what, why);
  exit(1);
}

static void check(CURLMcode code) {
  if (code != CURLM_OK) fail("libcurl", curl_multi_strerror(code));
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
  struct slot *slot = context;
  size_t length = size * count;
  if (load.body_bytes < 0) {
    size_t rest = strlen(body) - slot->received;
    if (length > rest || memcmp(bytes, body + slot->received, length) != 0) fail("response", "the body is wrong");
  }
  slot->received += length;
  return length;
}

static size_t send_piece(char *bytes, size_t size, size_t count, void *context) {
  struct slot *slot = context;
  return fread(bytes, 1, size * count, slot->upload);
}

static int socket_changed(CURL *easy, curl_socket_t number, int what, void *context, void *socket_context) {
  (void)easy, (void)context, (void)socket_context;
  if (what == CURL_POLL_REMOVE) return 0; // the socket stays registered for the next transfer
  if (number >= DESCRIPTORS_MAX) fail("socket", "too many descriptors");
  unsigned events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
  if (registered[number] == events) return 0;
  struct epoll_event event = {.events = events, .data.fd = number};
  if (epoll_ctl(poller, registered[number] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, number, &event) != 0)
    fail("epoll_ctl", strerror(errno));
  registered[number] = events;
  return 0;
}

static int socket_closed(void *context, curl_socket_t number) {
  (void)context;
  registered[number] = 0;
  return close(number);
}

static int timer_changed(CURLM *handle, long milliseconds, void *context) {
  (void)handle, (void)context;
  timer = milliseconds < 0 ? -1 : now() + (double)milliseconds / 1e3;
  return 0;
}

// server.py listens on the same addresses.
static void choose_origin(struct slot *slot) {
  char url[URL_BYTES_MAX];
  long origin = slot->index % load.origins;
  const char *rest = strstr(load.url, "127.0.0.1");
  if (!rest) fail("--origins", "the URL's host must be 127.0.0.1");
  snprintf(url, sizeof url, "%.*s127.0.%ld.%ld%s", (int)(rest - load.url), load.url, 1 + origin / 250,
           1 + origin % 250, rest + strlen("127.0.0.1"));
  curl_easy_setopt(slot->easy, CURLOPT_URL, url);
}

static void start(struct slot *slot) {
  if (begun == wanted) return;
  slot->index = begun++;
  slot->begin = now();
  slot->received = 0;
  running++;
  if (load.origins > 1) choose_origin(slot);
  if (slot->upload) rewind(slot->upload);
  check(curl_multi_add_handle(multi, slot->easy));
}

static void finish(struct slot *slot) {
  long status = 0;
  curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
  size_t expected = load.body_bytes < 0 ? strlen(body) : (size_t)load.body_bytes;
  if (status != 200 || slot->received != expected) fail("response", "the status or the body is wrong");
  double tenths = (now() - slot->begin) * 1e7;
  if (latencies) latencies[slot->index] = tenths < UINT32_MAX ? (uint32_t)tenths : UINT32_MAX;
  running--;
}

static void take_finished(void) {
  int rest;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &rest))) {
    if (message->msg != CURLMSG_DONE) continue;
    struct slot *slot;
    CURL *easy = message->easy_handle;
    if (message->data.result != CURLE_OK) fail("request", curl_easy_strerror(message->data.result));
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
    check(curl_multi_remove_handle(multi, easy));
    finish(slot);
    start(slot);
  }
}

static void run(struct slot *slots, long requests) {
  int still;
  struct epoll_event events[EVENTS_MAX];
  begun = 0;
  wanted = requests;
  for (long index = 0; index < load.in_flight; index++) start(&slots[index]);
  while (running > 0) {
    double wait = timer < 0 ? -1 : timer - now();
    int count = epoll_wait(poller, events, EVENTS_MAX, timer < 0 ? -1 : wait <= 0 ? 0 : (int)(wait * 1e3) + 1);
    if (count < 0 && errno != EINTR) fail("epoll_wait", strerror(errno));
    for (int index = 0; index < count; index++) {
      int ready = (events[index].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                  (events[index].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                  (events[index].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
      check(curl_multi_socket_action(multi, events[index].data.fd, ready, &still));
    }
    take_finished();
    if (timer >= 0 && timer <= now()) {
      timer = -1; // libcurl sets the timeout again
      check(curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &still));
      take_finished();
    }
  }
}

static CURL *make_easy(struct slot *slot) {
  CURL *easy = curl_easy_init();
  if (!easy) fail("curl_easy_init", "no memory");
  curl_easy_setopt(easy, CURLOPT_URL, load.url);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "lupine-benchmarks"); // libcurl adds Host and Accept: */*
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_closed);
  if (load.authorities) curl_easy_setopt(easy, CURLOPT_CAINFO, load.authorities);
  if (load.upload) {
    if (!(slot->upload = fopen(load.upload, "rb"))) fail(load.upload, strerror(errno));
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)load.upload_bytes);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, send_piece);
    curl_easy_setopt(easy, CURLOPT_READDATA, slot);
    // The other clients send no Expect and no Content-Type. libcurl's manual recommends a buffer larger than its
    // default.
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, curl_slist_append(curl_slist_append(NULL, "Expect:"), "Content-Type:"));
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024);
  }
  if (load.body_bytes > 1 << 20) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L * 1024);
  return easy;
}

// Reads VmHWM instead of ru_maxrss, which a process inherits from its parent.
static long resident_kib_max(void) {
  char line[256];
  long kib = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status) && sscanf(line, "VmHWM: %ld", &kib) != 1) continue;
  if (status) fclose(status);
  return kib;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static int compare(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

static double percentile(double share) {
  double place = share * (double)load.requests;
  long index = (long)place;
  if ((double)index < place) index++;
  return latencies[index - 1] / 10.0;
}

static void read_arguments(int count, char **arguments) {
  for (int index = 1; index < count; index++) {
    const char *name = arguments[index];
    int has_value = index + 1 < count;
    if (has_value && !strcmp(name, "--requests")) load.requests = atol(arguments[++index]);
    else if (has_value && !strcmp(name, "--in-flight")) load.in_flight = atol(arguments[++index]);
    else if (has_value && !strcmp(name, "--warm-up")) load.warm_up = atol(arguments[++index]);
    else if (has_value && !strcmp(name, "--origins")) load.origins = atol(arguments[++index]);
    else if (has_value && !strcmp(name, "--body-bytes")) load.body_bytes = atoll(arguments[++index]);
    else if (has_value && !strcmp(name, "--upload")) load.upload = arguments[++index];
    else if (has_value && !strcmp(name, "--ca")) load.authorities = arguments[++index];
    else load.url = name;
  }
  if (!load.url || load.requests < 1 || load.in_flight < 1 || load.warm_up < 0 || load.origins < 1) {
    fprintf(stderr,
            "usage: %s [--requests N] [--in-flight N] [--warm-up N] [--origins N] [--body-bytes N] [--upload FILE] "
            "[--ca FILE] URL\n",
            arguments[0]);
    exit(2);
  }
  struct stat facts;
  if (!load.upload) return;
  if (stat(load.upload, &facts) != 0) fail(load.upload, strerror(errno));
  load.upload_bytes = facts.st_size;
  snprintf(body, sizeof body, "%lld", load.upload_bytes);
}

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  curl_global_init(CURL_GLOBAL_ALL);
  multi = curl_multi_init();
  poller = epoll_create1(EPOLL_CLOEXEC);
  struct slot *slots = calloc((size_t)load.in_flight, sizeof *slots);
  uint32_t *room = calloc((size_t)load.requests, sizeof *room);
  if (!multi || poller < 0 || !slots || !room) fail("start", "no memory or descriptors");
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_changed);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, load.in_flight > load.origins ? load.in_flight : load.origins);
  for (long index = 0; index < load.in_flight; index++) slots[index].easy = make_easy(&slots[index]);

  run(slots, load.warm_up);
  struct rusage before, after;
  latencies = room;
  double begin = now();
  getrusage(RUSAGE_SELF, &before);
  run(slots, load.requests);
  double elapsed = now() - begin;
  getrusage(RUSAGE_SELF, &after);
  long resident = resident_kib_max();

  qsort(latencies, (size_t)load.requests, sizeof *latencies, compare);
  double user = seconds(after.ru_utime) - seconds(before.ru_utime);
  double system = seconds(after.ru_stime) - seconds(before.ru_stime);
  printf("requests=%ld seconds=%.6f requests_per_second=%.6f user_seconds=%.6f system_seconds=%.6f "
         "cpu_us_per_request=%.6f p50_us=%.1f p99_us=%.1f p999_us=%.1f peak_rss_kib=%ld\n",
         load.requests, elapsed, (double)load.requests / elapsed, user, system,
         (user + system) / (double)load.requests * 1e6, percentile(0.5), percentile(0.99), percentile(0.999), resident);
  return 0;
}
