// OpenSSL: initializes the OpenSSL library in this process.

import CLupineOpenSSL

package enum OpenSSL {
  /// Initializes OpenSSL. Each function that may be the first in the process to use OpenSSL must call `setUp` first.
  ///
  /// By default, OpenSSL frees all of its state when the process exits, even if threads still use it. A program that returns from
  /// `main` while requests are in flight would therefore crash. `setUp` disables this cleanup, so the kernel reclaims the memory.
  /// That has no effect if another library has already initialized OpenSSL.
  package static func setUp() { _ = isKeptToTheEnd }

  /// The version of the library, such as "OpenSSL 3.5.4 30 Sep 2025".
  package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

  /// Whether the library's default groups for the key exchange include X25519MLKEM768: from version 3.5 on.
  package static var hasMLKEM: Bool {
    OPENSSL_version_major() > 3 || (OPENSSL_version_major() == 3 && OPENSSL_version_minor() >= 5)
  }

  private static let isKeptToTheEnd = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
