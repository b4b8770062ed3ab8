// zlib for LupineCoding. Its macros, which Swift can't call, come as inline functions.
#pragma once
// Makes next_in a pointer to const bytes, as inflate and deflate never write there.
#define ZLIB_CONST
#include <zlib.h>

static inline int lupine_inflateInit2(z_streamp stream, int windowBits) {
  return inflateInit2(stream, windowBits);
}

static inline int lupine_deflateInit2(z_streamp stream, int level, int windowBits, int memLevel) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, memLevel, Z_DEFAULT_STRATEGY);
}
