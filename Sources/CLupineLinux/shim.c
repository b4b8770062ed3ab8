#define _GNU_SOURCE
#include "CLupineLinux.h"

#ifdef __linux__
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

int lupine_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int lupine_rename_exclusively(int folder, const char *from, const char *to) {
  return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

const int lupine_o_path = O_PATH;

int lupine_open_at(int folder, const char *name, int flags, unsigned int mode) {
  return openat(folder, name, flags, (mode_t)mode);
}
#endif
