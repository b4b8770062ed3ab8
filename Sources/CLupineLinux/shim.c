#define _GNU_SOURCE
#include "CLupineLinux.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

int lupine_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int lupine_rename_exclusively(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
