// Shows ThreadSanitizer how Synchronization.Mutex orders its critical sections. The uncontended paths are inlined, and
// so instrumented; the contended ones are in a library of the toolchain that isn't, where a lock is taken and given up
// unseen, and what it guards looks like a race. Preloaded by `make tsan`, this puts the missing events around them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// From the sanitizer's runtime, which only sanitized programs have.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

typedef SWIFT void (*lock_slow)(uint32_t, SELF);
typedef SWIFT void (*unlock_slow)(SELF);

SWIFT void tsan_lock_slow(uint32_t seen, SELF) __asm__(LOCK_SLOW);
SWIFT void tsan_unlock_slow(SELF) __asm__(UNLOCK_SLOW);

SWIFT void tsan_lock_slow(uint32_t seen, SELF) {
  ((lock_slow)dlsym(RTLD_NEXT, LOCK_SLOW))(seen, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void tsan_unlock_slow(SELF) {
  if (__tsan_release) __tsan_release(self);
  ((unlock_slow)dlsym(RTLD_NEXT, UNLOCK_SLOW))(self);
}
