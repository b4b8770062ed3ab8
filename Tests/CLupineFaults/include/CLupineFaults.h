// Fails calls of the C library and of other libraries, for one program that is used only in tests.
//
// This target defines functions such as send(2). In a program that links it, these definitions take precedence over the
// C library's, both for the program and for the shared libraries that it loads. Calls that shouldn't fail are
// forwarded. Programs that don't link this target are unaffected, so the tested code is the code that users get.
#pragma once
#include <stdbool.h>

/// A group of functions whose calls can be made to fail: system calls, allocations of OpenSSL, allocations of the libraries
/// for content codings, or the calls that only the records of background sessions need.
enum lupine_fault_group { LUPINE_FAULT_CALLS, LUPINE_FAULT_OPENSSL, LUPINE_FAULT_CODINGS, LUPINE_FAULT_RECORDS };

/// Prepares the program. Must be called once, before any other function. Calls with a path are counted only if the path begins
/// with `folder`. Also sets OpenSSL's allocator, and returns false if OpenSSL has already allocated memory.
bool lupine_faults_begin(const char *folder);

/// Returns the names of the functions in a group, terminated by NULL.
const char *const *lupine_faults_calls(enum lupine_fault_group group);

/// From now on, counts the calls of the function named `call`, starting at 1, and makes the `n`-th call fail. `variant` selects
/// one of the ways in which the function can fail. Calls on threads whose name begins with "origin-" aren't counted.
void lupine_faults_arm(const char *call, long n, int variant);
/// Excludes the current thread's calls from the count, or includes them again.
void lupine_faults_exempt_thread(bool is_exempt);
/// Stops counting and failing calls.
void lupine_faults_disarm(void);

/// Returns whether a call has been made to fail since the last `lupine_faults_arm`.
bool lupine_faults_struck(void);
/// Returns the errno or getaddrinfo code of the failed call, or 0 if only `lupine_faults_struck_shape` describes it.
int lupine_faults_struck_code(void);
/// Returns how the call failed: "error", "short", "nothing" or "spurious".
const char *lupine_faults_struck_shape(void);
/// Returns the number of ways in which the failed call could fail: `variant` must be less than this.
int lupine_faults_struck_variants(void);

/// Returns the timeout of the current epoll_wait call in milliseconds: -1 is infinite, and -2 means no call at all.
int lupine_faults_waiting(void);

/// Moves the wall clock by the given number of seconds, which may be negative, relative to the real time. The monotonic
/// clock, which no process can set, isn't changed.
void lupine_faults_set_clock(long seconds);
