// Load through libcurl's multi interface with epoll: the same work, checks and output line as Lupine's generators.
//
// As fast as libcurl is driven by programs that care: easy handles are reused, sockets are handed in by
// curl_multi_socket_action, and a socket stays registered with epoll between transfers, which saves two system calls
// each. curl_multi_perform with curl_multi_poll needed about as much CPU, at 1, 64 and 512 requests in flight.

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char body[] = "Hello, world!";
#define BODY_BYTES (sizeof body - 1)
#define DESCRIPTORS_MAX 65536
#define EVENTS_MAX 256

struct slot {
  CURL *easy;
  size_t received;
};

static CURLM *multi;
static int poller;
static unsigned registered[DESCRIPTORS_MAX]; // the events that epoll knows; 0: not registered
static double timer = -1;                    // when libcurl wants to be called; below 0: never
static long left;                            // requests that nobody has started
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
  if (length > BODY_BYTES - slot->received || memcmp(bytes, body + slot->received, length) != 0)
    fail("response", "the body is wrong");
  slot->received += length;
  return length;
}

static int socket_changed(CURL *easy, curl_socket_t number, int what, void *context, void *socket_context) {
  (void)easy, (void)context, (void)socket_context;
  if (what == CURL_POLL_REMOVE) return 0; // stays registered for the next transfer
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

static void start(struct slot *slot) {
  if (left == 0) return;
  left--;
  running++;
  slot->received = 0;
  check(curl_multi_add_handle(multi, slot->easy));
}

static void take_finished(void) {
  int rest;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &rest))) {
    if (message->msg != CURLMSG_DONE) continue;
    struct slot *slot;
    long status = 0;
    CURL *easy = message->easy_handle;
    if (message->data.result != CURLE_OK) fail("request", curl_easy_strerror(message->data.result));
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 || slot->received != BODY_BYTES) fail("response", "the status or the body is wrong");
    check(curl_multi_remove_handle(multi, easy));
    running--;
    start(slot);
  }
}

static void run(struct slot *slots, long in_flight, long requests) {
  int still;
  struct epoll_event events[EVENTS_MAX];
  left = requests;
  for (long index = 0; index < in_flight; index++) start(&slots[index]);
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
      timer = -1; // libcurl sets it again
      check(curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &still));
      take_finished();
    }
  }
}

static CURL *make_easy(const char *url, struct slot *slot) {
  CURL *easy = curl_easy_init();
  if (!easy) fail("curl_easy_init", "no memory");
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "lupine-benchmarks"); // Host and Accept: */* it sends by itself
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_closed);
  return easy;
}

// Not ru_maxrss, which a process inherits from whoever started it.
static long resident_kib_max(void) {
  char line[256];
  long kib = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status) && sscanf(line, "VmHWM: %ld", &kib) != 1) continue;
  if (status) fclose(status);
  return kib;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

int main(int count, char **arguments) {
  long requests = 100000, in_flight = 64, warm_up = 0;
  const char *url = NULL;
  for (int index = 1; index < count; index++) {
    int has_value = index + 1 < count;
    if (has_value && !strcmp(arguments[index], "--requests")) requests = atol(arguments[++index]);
    else if (has_value && !strcmp(arguments[index], "--in-flight")) in_flight = atol(arguments[++index]);
    else if (has_value && !strcmp(arguments[index], "--warm-up")) warm_up = atol(arguments[++index]);
    else url = arguments[index];
  }
  if (!url || requests < 1 || in_flight < 1 || warm_up < 0) {
    fprintf(stderr, "usage: %s [--requests N] [--in-flight N] [--warm-up N] http://HOST:PORT/PATH\n", arguments[0]);
    return 2;
  }

  curl_global_init(CURL_GLOBAL_ALL);
  multi = curl_multi_init();
  poller = epoll_create1(EPOLL_CLOEXEC);
  struct slot *slots = calloc((size_t)in_flight, sizeof *slots);
  if (!multi || poller < 0 || !slots) fail("start", "no memory or descriptors");
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_changed);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, in_flight);
  for (long index = 0; index < in_flight; index++) slots[index].easy = make_easy(url, &slots[index]);

  run(slots, in_flight, warm_up);
  struct rusage before, after;
  double begin = now();
  getrusage(RUSAGE_SELF, &before);
  run(slots, in_flight, requests);
  double elapsed = now() - begin;
  getrusage(RUSAGE_SELF, &after);

  double user = seconds(after.ru_utime) - seconds(before.ru_utime);
  double system = seconds(after.ru_stime) - seconds(before.ru_stime);
  printf("requests=%ld seconds=%.3f requests_per_second=%.3f user_seconds=%.3f system_seconds=%.3f "
         "cpu_us_per_request=%.3f peak_rss_kib=%ld\n",
         requests, elapsed, (double)requests / elapsed, user, system, (user + system) / (double)requests * 1e6,
         resident_kib_max());
  return 0;
}
