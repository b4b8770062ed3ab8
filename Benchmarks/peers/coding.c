// The cost of zlib and libbrotli alone: decodes a file in memory repeatedly, each time in one call.
//
//   coding br encode FILE CODED        compresses a file with brotli, which Python's standard library lacks
//   coding gzip|br decode CODED BYTES --requests N
//                                      decodes a file N times, each to BYTES bytes; prints the line of results

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <zlib.h>

#define GZIP_WINDOW_BITS (15 + 16) // the largest window, with a gzip header (zlib.h)
#define BROTLI_QUALITY 5           // a quality that servers use for responses compressed on the fly

_Noreturn static void fail(const char *what) {
  fprintf(stderr, "coding: %s\n", what);
  exit(1);
}

static unsigned char *allocate(size_t size) {
  unsigned char *bytes = malloc(size ? size : 1);
  if (!bytes) fail("no memory");
  return bytes;
}

static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) fail("the file can't be read");
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = allocate(*size);
  if (fread(bytes, 1, *size, file) != *size) fail("the file can't be read");
  fclose(file);
  return bytes;
}

static void encode(const char *plain, const char *path) {
  size_t size, coded_size;
  unsigned char *bytes = read_file(plain, &size);
  coded_size = BrotliEncoderMaxCompressedSize(size);
  unsigned char *coded = allocate(coded_size);
  if (!BrotliEncoderCompress(BROTLI_QUALITY, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, size, bytes, &coded_size, coded))
    fail("libbrotli can't code the file");
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(coded, 1, coded_size, file) != coded_size || fclose(file) != 0) fail("the file can't be written");
}

static size_t inflate_all(unsigned char *coded, size_t coded_size, unsigned char *bytes, size_t size) {
  z_stream stream = {.next_in = coded, .avail_in = (uInt)coded_size, .next_out = bytes, .avail_out = (uInt)size};
  if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK) fail("zlib can't start");
  if (inflate(&stream, Z_FINISH) != Z_STREAM_END) fail("zlib can't decode the file");
  inflateEnd(&stream);
  return stream.total_out;
}

static void decode(int is_gzip, unsigned char *coded, size_t coded_size, unsigned char *bytes, size_t size) {
  size_t decoded = size;
  if (is_gzip) decoded = inflate_all(coded, coded_size, bytes, size);
  else if (BrotliDecoderDecompress(coded_size, coded, &decoded, bytes) != BROTLI_DECODER_RESULT_SUCCESS)
    fail("libbrotli can't decode the file");
  if (decoded != size) fail("the decoded length is wrong");
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  if (count == 5 && !strcmp(arguments[1], "br") && !strcmp(arguments[2], "encode")) {
    encode(arguments[3], arguments[4]);
    return 0;
  }
  if (count != 7 || strcmp(arguments[2], "decode") || strcmp(arguments[5], "--requests")) {
    fprintf(stderr, "usage: coding br encode FILE CODED, or coding gzip|br decode CODED BYTES --requests N\n");
    return 2;
  }
  int is_gzip = !strcmp(arguments[1], "gzip");
  size_t coded_size, size = (size_t)atol(arguments[4]);
  long rounds = atol(arguments[6]);
  unsigned char *coded = read_file(arguments[3], &coded_size), *bytes = allocate(size);
  decode(is_gzip, coded, coded_size, bytes, size); // not measured: allocates the memory

  struct rusage before, after;
  double begin = now();
  getrusage(RUSAGE_SELF, &before);
  for (long round = 0; round < rounds; round++) decode(is_gzip, coded, coded_size, bytes, size);
  double elapsed = now() - begin;
  getrusage(RUSAGE_SELF, &after);
  printf("requests=%ld seconds=%.6f requests_per_second=%.6f user_seconds=%.6f system_seconds=%.6f\n", rounds, elapsed,
         (double)rounds / elapsed, seconds(after.ru_utime) - seconds(before.ru_utime),
         seconds(after.ru_stime) - seconds(before.ru_stime));
  return 0;
}
