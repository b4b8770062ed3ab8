// CLupineZlib: zlib for LupineCoding. Inline functions replace zlib's macros, which Swift can't call.
#pragma once
#ifndef __linux__
#error "Lupine is an HTTP client for Linux. On other systems, use URLSession and Alamofire, whose APIs it provides."
#else
// Makes next_in a pointer to const, because inflate and deflate only read the input.
#define ZLIB_CONST
#include <zlib.h>

static inline int lupine_inflateInit2(z_streamp stream, int windowBits) {
  return inflateInit2(stream, windowBits);
}

static inline int lupine_deflateInit2(z_streamp stream, int level, int windowBits, int memLevel) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, memLevel, Z_DEFAULT_STRATEGY);
}
#endif
