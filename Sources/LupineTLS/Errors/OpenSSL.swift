// OpenSSL: initializes the OpenSSL library in this process.

import CLupineOpenSSL

package enum OpenSSL {
  /// Initializes OpenSSL. Each function that may be the first in the process to use OpenSSL must call `setUp` first.
  ///
  /// By default, OpenSSL frees all of its state when the process exits, even if threads still use it. A program that returns from
  /// `main` while requests are in flight would therefore crash. `setUp` disables this cleanup, so the kernel reclaims the memory.
  /// That has no effect if another library has already initialized OpenSSL.
  package static func setUp() { _ = isKeptToTheEnd }

  private static let isKeptToTheEnd = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
