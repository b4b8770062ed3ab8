// Failing allocations of OpenSSL, zlib, brotli and zstd.
#include "counting.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <dlfcn.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <zlib.h>

#ifdef LUPINE_ZSTD
#define ZSTD_STATIC_LINKING_ONLY // for the decoder with another allocator
#include <zstd.h>
#endif

static bool lacks(const char *call) {
  struct fault fault;
  return STRIKES(call, fault, E(ENOMEM));
}

static void *openssl_malloc(size_t count, const char *file, int line) {
  return lacks("CRYPTO_malloc") ? NULL : malloc(count);
}

static void *openssl_realloc(void *memory, size_t count, const char *file, int line) {
  return lacks("CRYPTO_realloc") ? NULL : realloc(memory, count);
}

static void openssl_free(void *memory, const char *file, int line) { free(memory); }

bool take_openssl(void) {
  return CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free) == 1;
}

static void *zlib_calloc(void *opaque, unsigned int count, unsigned int size) {
  return lacks("zalloc") ? NULL : calloc(count, size);
}

static void zlib_free(void *opaque, void *memory) { free(memory); }

int inflateInit2_(z_streamp stream, int bits, const char *version, int size) {
  stream->zalloc = zlib_calloc;
  stream->zfree = zlib_free;
  return NEXT(inflateInit2_)(stream, bits, version, size);
}

int deflateInit2_(z_streamp stream, int level, int method, int bits, int memory, int strategy, const char *version,
                  int size) {
  stream->zalloc = zlib_calloc;
  stream->zfree = zlib_free;
  return NEXT(deflateInit2_)(stream, level, method, bits, memory, strategy, version, size);
}

static void *brotli_malloc(void *opaque, size_t count) {
  return lacks("brotli_alloc_func") ? NULL : malloc(count);
}

static void brotli_free(void *opaque, void *memory) { free(memory); }

BrotliDecoderState *BrotliDecoderCreateInstance(brotli_alloc_func allocate, brotli_free_func release, void *opaque) {
  return NEXT(BrotliDecoderCreateInstance)(brotli_malloc, brotli_free, NULL);
}

#ifdef LUPINE_ZSTD
static void *zstd_malloc(void *opaque, size_t count) {
  return lacks("ZSTD_allocFunction") ? NULL : malloc(count);
}

static void zstd_free(void *opaque, void *memory) { free(memory); }

ZSTD_DCtx *ZSTD_createDCtx(void) { return ZSTD_createDCtx_advanced((ZSTD_customMem){zstd_malloc, zstd_free, NULL}); }
#endif
