#define _GNU_SOURCE
#include "CLupineLinux.h"

#include <pthread.h>
#include <sys/socket.h>

int lupine_accept4(int fd, int flags) { return accept4(fd, 0, 0, flags); }

int lupine_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }
