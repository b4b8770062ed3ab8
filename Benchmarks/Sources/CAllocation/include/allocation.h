// How much memory malloc has given out: what Swift's Glibc module leaves out.

#ifndef LUPINE_BENCHMARKS_ALLOCATION_H
#define LUPINE_BENCHMARKS_ALLOCATION_H

#include <stddef.h>

/// The bytes that are allocated and not freed, of all threads' arenas.
size_t allocated_bytes(void);

#endif
