// The amount of memory allocated by malloc, as glibc counts it.

#include "allocation.h"
#include <malloc.h>

size_t allocated_bytes(void) {
  struct mallinfo2 facts = mallinfo2();
  return facts.uordblks + facts.hblkhd;
}
