// CurrentThread: identifies the thread on which a test's code runs.

import Glibc

/// Returns a number that identifies the calling thread.
func currentThread() -> UInt { UInt(pthread_self()) }
