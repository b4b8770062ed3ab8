// Fails calls on files: those with a path in the run's folder, and those with a descriptor, or with a name in an open folder, if the
// program itself makes them.
#include "counting.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN is_own(__builtin_return_address(0))
#define FAILS(call, ...) (OWN && STRIKES(call, fault, __VA_ARGS__))
#define FAILS_AT(path, call, ...) (is_inside(path) && STRIKES(call, fault, __VA_ARGS__))
#define FAILS_IN(name, call, ...) (*(name) != '/' && FAILS(call, __VA_ARGS__))

static int failed(int code) {
  errno = code;
  return -1;
}

int open(const char *path, int flags, ...) {
  struct fault fault;
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  // EINTR isn't included: Foundation, which opens some of the files, doesn't handle it, and local disks don't return
  // it.
  if (FAILS_AT(path, "open", E(EMFILE), E(ENFILE), E(EACCES), E(ENOSPC), E(EROFS), E(EIO), E(ENOENT)))
    return failed(fault.code);
  return NEXT(open)(path, flags, mode);
}

int openat(int folder, const char *name, int flags, ...) {
  struct fault fault;
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (FAILS_IN(name, "openat", E(EMFILE), E(ENFILE), E(EACCES), E(ENOSPC), E(EROFS), E(EIO), E(ENOENT)))
    return failed(fault.code);
  return NEXT(openat)(folder, name, flags, mode);
}

int fstat(int fd, struct stat *status) {
  struct fault fault;
  if (FAILS("fstat", E(EIO), E(EOVERFLOW))) return failed(fault.code);
  return NEXT(fstat)(fd, status);
}

ssize_t pread(int fd, void *buffer, size_t count, off_t offset) {
  struct fault fault;
  if (FAILS("pread", E(EIO), E(EINTR), SHORT, NOTHING)) {
    if (fault.shape == SHAPE_ERROR) return failed(fault.code);
    if (fault.shape == SHAPE_NOTHING) return 0;
    count = 1;
  }
  return NEXT(pread)(fd, buffer, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  struct fault fault;
  if (FAILS("pwrite", E(ENOSPC), E(EDQUOT), E(EIO), E(EFBIG), E(EINTR), SHORT)) {
    if (fault.shape == SHAPE_ERROR) return failed(fault.code);
    count = 1;
  }
  return NEXT(pwrite)(fd, bytes, count, offset);
}

int ftruncate(int fd, off_t count) {
  struct fault fault;
  if (FAILS("ftruncate", E(EIO), E(ENOSPC), E(EINTR))) return failed(fault.code);
  return NEXT(ftruncate)(fd, count);
}

// Closes the descriptor even if close fails, as Linux does.
int close(int fd) {
  struct fault fault;
  int result = NEXT(close)(fd);
  if (FAILS("close", E(EIO), E(EINTR))) return failed(fault.code);
  return result;
}

int rename(const char *from, const char *to) {
  struct fault fault;
  if (FAILS_AT(from, "rename", E(EXDEV), E(ENOSPC), E(EACCES), E(EIO), E(EROFS))) return failed(fault.code);
  return NEXT(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  struct fault fault;
  if (FAILS_IN(from, "renameat", E(EXDEV), E(ENOSPC), E(EACCES), E(EIO), E(EROFS))) return failed(fault.code);
  return NEXT(renameat)(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
  struct fault fault;
  if ((is_inside(from) || (*from != '/' && OWN))
      && STRIKES("renameat2", fault, E(EXDEV), E(ENOSPC), E(EACCES), E(EIO), E(EINVAL)))
    return failed(fault.code);
  return NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  struct fault fault;
  if (FAILS_IN(from, "linkat", E(EPERM), E(ENOSPC), E(EACCES), E(EIO), E(EROFS))) return failed(fault.code);
  return NEXT(linkat)(from_folder, from, to_folder, to, flags);
}

int fdatasync(int fd) {
  struct fault fault;
  if (FAILS("fdatasync", E(EIO), E(ENOSPC), E(EINTR))) return failed(fault.code);
  return NEXT(fdatasync)(fd);
}

int flock(int fd, int operation) {
  struct fault fault;
  if (FAILS("flock", E(ENOLCK), E(EINTR))) return failed(fault.code);
  return NEXT(flock)(fd, operation);
}

int unlink(const char *path) {
  struct fault fault;
  if (FAILS_AT(path, "unlink", E(EACCES), E(EIO), E(EROFS))) return failed(fault.code);
  return NEXT(unlink)(path);
}

int unlinkat(int folder, const char *name, int flags) {
  struct fault fault;
  if (FAILS_IN(name, "unlinkat", E(EACCES), E(EIO), E(EROFS))) return failed(fault.code);
  return NEXT(unlinkat)(folder, name, flags);
}

int mkdirat(int folder, const char *name, mode_t mode) {
  struct fault fault;
  if (FAILS_IN(name, "mkdirat", E(ENOSPC), E(EACCES), E(EROFS))) return failed(fault.code);
  return NEXT(mkdirat)(folder, name, mode);
}
