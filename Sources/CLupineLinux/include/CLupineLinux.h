// CLupineLinux: Linux APIs that `import Glibc` lacks: epoll, eventfd, getopt_long, netlink, thread names, exclusive renames, O_PATH
// and openat, which has variable arguments.
#pragma once
#ifndef __linux__
#error "Lupine is an HTTP client for Linux. On other systems, use URLSession and Alamofire, whose APIs it provides."
#else
#include <getopt.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// The system declares these functions only with _GNU_SOURCE. This macro would also change types that Swift's own module of the C
// library declares, so only shim.c defines it.
int lupine_set_thread_name(const char *name);
int lupine_rename_exclusively(int folder, const char *from, const char *to);
int lupine_open_at(int folder, const char *name, int flags, unsigned int mode);
extern const int lupine_o_path;
#endif
