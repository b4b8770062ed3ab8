// OpenSSL: the library's initialization in this process.

import CLupineOpenSSL

package enum OpenSSL {
  /// Initializes the library. Every function that may be the process's first to call OpenSSL calls this before.
  ///
  /// By default, OpenSSL frees all of its state when the process exits, even if threads still use it: programs that
  /// returned from `main` with requests in flight crashed. The option leaves the memory to the kernel. It has no effect
  /// if another library has initialized OpenSSL before.
  package static func setUp() { _ = isKeptToTheEnd }

  private static let isKeptToTheEnd = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
