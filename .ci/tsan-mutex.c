// Tells ThreadSanitizer how Synchronization.Mutex orders its critical sections. The uncontended paths are inlined and
// therefore instrumented. The contended paths are in the toolchain's library, which isn't instrumented, so the state
// that the mutex guards would be reported as a race. `make tsan` preloads this file, which adds the missing events.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// Functions of the sanitizer's runtime, which only sanitized programs have.
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
