// What Foundation shows of a TLS error: its own sentence.

public import Foundation
public import LupineEngine

extension TLSError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}
