// OpenSSL's state in this process.

import CLupineOpenSSL

enum OpenSSL {
  /// Whatever may be a process's first call of OpenSSL has this in front of it.
  ///
  /// By default the library frees all that it has when the process ends, though threads still use it: a program that
  /// returned from `main` with requests under way crashed. The kernel frees it in any case. If another library has set
  /// OpenSSL up before, it is that one's default that holds.
  static func setUp() { _ = isKeptToTheEnd }

  private static let isKeptToTheEnd = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
