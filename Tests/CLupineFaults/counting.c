// Counts the calls of an armed function, and decides which one fails.
#include "counting.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

static char armed[32];
static atomic_bool is_armed;
static _Thread_local bool is_exempt;
static atomic_long target, seen;
static atomic_int variant;
static char folder[PATH_MAX];

static atomic_bool is_struck;
static atomic_int struck_code, struck_shape, struck_variants;
static atomic_int waiting = -2;

bool lupine_faults_begin(const char *path) {
  strncpy(folder, path, sizeof folder - 1);
  return take_openssl();
}

const char *const *lupine_faults_calls(enum lupine_fault_group group) {
  static const char *const calls[] = {
      "socket", "setsockopt", "connect", "getsockopt", "getsockname", "getpeername", "send", "recv", "sendfile",
      "epoll_create1", "eventfd", "epoll_ctl", "epoll_wait", "getaddrinfo", "pthread_create", "open", "openat", "fstat",
      "pread", "pwrite", "ftruncate", "close", "rename", "renameat", "renameat2", NULL};
  static const char *const openssl[] = {"CRYPTO_malloc", "CRYPTO_realloc", NULL};
  static const char *const codings[] = {
      "zalloc", "brotli_alloc_func",
#ifdef LUPINE_ZSTD
      "ZSTD_allocFunction",
#endif
      NULL};
  static const char *const records[] = {"fdatasync", "flock", "unlink", "unlinkat", "linkat", "mkdirat", NULL};
  const char *const *const groups[] = {calls, openssl, codings, records};
  return groups[group];
}

// Must be called while no thread counts calls. Setting `is_armed` makes the other variables visible to the threads that count.
void lupine_faults_arm(const char *call, long n, int which) {
  lupine_faults_disarm();
  strncpy(armed, call, sizeof armed - 1);
  is_struck = false;
  struck_code = struck_shape = struck_variants = 0;
  seen = 0;
  target = n;
  variant = which;
  is_armed = true;
}

void lupine_faults_disarm(void) { is_armed = false; }
void lupine_faults_exempt_thread(bool is) { is_exempt = is; }
bool lupine_faults_struck(void) { return is_struck; }
int lupine_faults_struck_code(void) { return struck_code; }
int lupine_faults_struck_variants(void) { return struck_variants; }
int lupine_faults_waiting(void) { return waiting; }
void set_waiting(int milliseconds) { waiting = milliseconds; }

const char *lupine_faults_struck_shape(void) {
  static const char *const names[] = {"error", "short", "nothing", "spurious"};
  return names[struck_shape];
}

// Returns whether the calling thread belongs to a test server. A thread is named before its first countable call.
static bool is_servers(void) {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return strncmp(name, "origin-", 7) == 0;
}

bool strike(const char *call, const struct fault *faults, int count, struct fault *out) {
  if (!is_armed || strcmp(call, armed) != 0 || is_exempt || is_servers()) return false;
  if (atomic_fetch_add(&seen, 1) + 1 != target) return false;
  *out = faults[variant % count];
  struck_code = out->code;
  struck_shape = (int)out->shape;
  struck_variants = count;
  is_struck = true;
  return true;
}

bool is_own(const void *address) {
  extern const char __executable_start, etext;
  return (const char *)address >= &__executable_start && (const char *)address < &etext;
}

bool is_inside(const char *path) { return folder[0] && strncmp(path, folder, strlen(folder)) == 0; }
