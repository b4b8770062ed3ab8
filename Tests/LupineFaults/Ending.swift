// How a request has ended.

import Foundation
import Lupine

/// A completion, as it was handed over.
struct Ending: Sendable {
  enum Kind: Hashable, Sendable {
    /// With everything that was to come.
    case complete
    /// Without an error, but not with what was to come.
    case damaged
    case error(URLError.Code)
    /// The downloaded file couldn't be given its place.
    case move
    /// The multipart body couldn't be written.
    case multipart
    case other
  }

  let kind: Kind
  /// What the error says.
  let words: String

  init(_ error: AFError?, isRight: Bool) {
    words = error.map { "\($0)" } ?? (isRight ? "complete" : "without an error, but not what was to come")
    kind =
      switch error {
      case nil: isRight ? .complete : .damaged
      case .sessionTaskFailed(let error as URLError): .error(error.code)
      case .downloadedFileMoveFailed: .move
      case .multipartEncodingFailed: .multipart
      default: (error?.underlyingError as? URLError).map { .error($0.code) } ?? .other
      }
  }
}
