// Failing calls of the C library and of the libraries below it, for one test-only program.
//
// This target defines functions such as send(2) itself. In the program that it is linked into they come before the C
// library's, for the program and for the shared libraries that it loads; what they don't fail they pass on. So nothing
// of it is in a program that doesn't link it, and what is tried is the code that users get.
#pragma once
#include <stdbool.h>

/// What is to fail: system calls, allocations of OpenSSL, or allocations of the content codings' libraries.
enum lupine_fault_group { LUPINE_FAULT_CALLS, LUPINE_FAULT_OPENSSL, LUPINE_FAULT_CODINGS };

/// Call it once, first of all. Calls with a path will be counted only if that begins with `folder`. Has OpenSSL allocate
/// through here; false if it has allocated before.
bool lupine_faults_begin(const char *folder);

/// The names of what can be failed, ending with NULL.
const char *const *lupine_faults_calls(enum lupine_fault_group group);

/// Counts the calls of that name from now on, and fails the n-th one, from 1, in its given variant: each call can fail in
/// several ways. Threads whose name begins with "origin-" don't count.
void lupine_faults_arm(const char *call, long n, int variant);
/// Has the present thread's calls not count, or count again.
void lupine_faults_exempt_thread(bool is_exempt);
/// Fails and counts nothing more.
void lupine_faults_disarm(void);

/// Whether a call was failed since arming.
bool lupine_faults_struck(void);
/// How it was failed: an errno or a code of getaddrinfo's; 0 for what `lupine_faults_struck_shape` says alone.
int lupine_faults_struck_code(void);
/// In which form it was failed: "error", "short", "nothing", "spurious".
const char *lupine_faults_struck_shape(void);
/// How many variants the call has.
int lupine_faults_struck_variants(void);

/// How long the thread that waits in epoll_wait at the moment means to wait, in milliseconds, -1 for ever; -2 if none does.
int lupine_faults_waiting(void);

/// Sets the clock that people read forwards, or backwards, by that many seconds in all. The one that only counts isn't
/// set by anybody.
void lupine_faults_set_clock(long seconds);
