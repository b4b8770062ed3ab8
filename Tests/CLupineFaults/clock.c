// The wall clock, which tests can set.
#include "counting.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

static atomic_long ahead;

void lupine_faults_set_clock(long seconds) { ahead = seconds; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = NEXT(clock_gettime)(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead;
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int result = NEXT(gettimeofday)(now, zone);
  if (result == 0) now->tv_sec += ahead;
  return result;
}

time_t time(time_t *now) {
  struct timespec present;
  clock_gettime(CLOCK_REALTIME, &present);
  if (now) *now = present.tv_sec;
  return present.tv_sec;
}
