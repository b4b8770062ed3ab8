// CurrentThread: identifies the thread on which a test's code runs.

import Glibc

/// Returns the calling thread's identity.
func currentThread() -> UInt { UInt(pthread_self()) }
