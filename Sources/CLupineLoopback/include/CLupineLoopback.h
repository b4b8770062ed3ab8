// CLupineLoopback: the Linux API that LupineLoopback needs and `import Glibc` lacks.
#pragma once

// The system declares accept4 only with _GNU_SOURCE, as described in CLupineLinux.h.
int lupine_accept4(int fd, int flags);
