// The amount of memory allocated by malloc. This is C because Swift's Glibc module lacks mallinfo2.

#ifndef LUPINE_BENCHMARKS_ALLOCATION_H
#define LUPINE_BENCHMARKS_ALLOCATION_H

#include <stddef.h>

/// Returns the number of bytes that are allocated by malloc in the arenas of all threads.
size_t allocated_bytes(void);

#endif
