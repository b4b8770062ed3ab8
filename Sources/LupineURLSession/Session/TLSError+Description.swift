// TLSError+Description: makes `localizedDescription` return a TLS error's message.

public import Foundation
public import LupineEngine

extension TLSError: LocalizedError {
  /// The TLS error's message.
  public var errorDescription: String? { message }
}
