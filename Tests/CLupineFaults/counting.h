// Which call is to fail, and how: shared by the files of this target.
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "CLupineFaults.h"

enum shape { SHAPE_ERROR, SHAPE_SHORT, SHAPE_NOTHING, SHAPE_SPURIOUS };

/// One way in which a call can fail.
struct fault {
  enum shape shape;
  int code;
};

#define E(number) { SHAPE_ERROR, number }
#define SHORT { SHAPE_SHORT, 0 }
#define NOTHING { SHAPE_NOTHING, 0 }
#define SPURIOUS { SHAPE_SPURIOUS, 0 }

/// Counts a call; true, with the way, if this is the one to fail.
bool strike(const char *call, const struct fault *faults, int count, struct fault *out);

/// Whether an address lies in the code of the program itself, in which all of Lupine is.
bool is_own(const void *address);
/// Whether a path lies below the folder that was given on arming.
bool is_inside(const char *path);

void set_waiting(int milliseconds);
bool take_openssl(void);

#define STRIKES(call, fault, ...)                                                          \
  ({                                                                                       \
    static const struct fault ways[] = {__VA_ARGS__};                                      \
    strike(call, ways, (int)(sizeof ways / sizeof *ways), &(fault));                       \
  })

/// The next definition of a function: a sanitizer's, which is in the program too, or the library's.
#define NEXT(name)                                                                         \
  ({                                                                                       \
    static _Atomic(__typeof__(&name)) next;                                                         \
    extern __typeof__(name) __interceptor_##name __attribute__((weak));                    \
    if (!next) next = &__interceptor_##name ? &__interceptor_##name                        \
                                            : (__typeof__(&name))dlsym(RTLD_NEXT, #name);  \
    (__typeof__(&name))next;                                                                      \
  })
