// What `import Glibc` doesn't show of Linux: epoll, eventfd, getopt_long, accept4, thread names.
#pragma once
#include <getopt.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// Declared by the system only with _GNU_SOURCE. That would change types which Swift's own view of the C library
// has too, so it is defined in shim.c alone.
int lupine_accept4(int fd, int flags);
int lupine_set_thread_name(const char *name);
int lupine_rename_exclusively(const char *from, const char *to);
