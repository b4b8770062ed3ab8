// TLSError+Description: makes `localizedDescription` return a TLS error's message.

public import Foundation
public import LupineEngine

extension TLSError: LocalizedError {
  /// The error message, which `localizedDescription` returns.
  public var errorDescription: String? { message }
}
