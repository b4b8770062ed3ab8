// How much memory malloc has given out, by glibc's own count.

#include "allocation.h"
#include <malloc.h>

size_t allocated_bytes(void) {
  struct mallinfo2 facts = mallinfo2();
  return facts.uordblks + facts.hblkhd;
}
