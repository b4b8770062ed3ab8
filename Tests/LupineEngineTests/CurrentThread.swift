// Which thread a test runs on.

import Glibc

/// The calling thread's identity.
func currentThread() -> UInt { UInt(pthread_self()) }
