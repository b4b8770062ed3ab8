// Declarations shared by the files of this target: the call to fail, and how it fails.
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

/// Counts a call of a function. If this is the call to fail, returns true and sets `out` to the way in which it must fail.
bool strike(const char *call, const struct fault *faults, int count, struct fault *out);

/// Returns whether a code address belongs to the program itself, which contains all of Lupine, and not to a shared library.
bool is_own(const void *address);
/// Returns whether a path begins with the folder that was passed to `lupine_faults_begin`.
bool is_inside(const char *path);

void set_waiting(int milliseconds);
bool take_openssl(void);

#define STRIKES(call, fault, ...)                                                          \
  ({                                                                                       \
    static const struct fault ways[] = {__VA_ARGS__};                                      \
    strike(call, ways, (int)(sizeof ways / sizeof *ways), &(fault));                       \
  })

/// The next definition of a function: a sanitizer's, which is also linked into the program, or the library's.
#define NEXT(name)                                                                         \
  ({                                                                                       \
    static _Atomic(__typeof__(&name)) next;                                                         \
    extern __typeof__(name) __interceptor_##name __attribute__((weak));                    \
    if (!next) next = &__interceptor_##name ? &__interceptor_##name                        \
                                            : (__typeof__(&name))dlsym(RTLD_NEXT, #name);  \
    (__typeof__(&name))next;                                                                      \
  })
