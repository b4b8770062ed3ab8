// Ending: the outcome of a request.

import Foundation
import Lupine

/// The result with which a request's completion handler was called.
struct Ending: Sendable {
  enum Kind: Hashable, Sendable {
    /// The request has received a complete and correct response.
    case complete
    /// The request has no error, but its response is incomplete or wrong.
    case damaged
    case error(URLError.Code)
    /// The downloaded file couldn't be moved to its destination.
    case move
    /// The multipart body couldn't be written to a file.
    case multipart
    case other
  }

  let kind: Kind
  /// The description of the error, or of the response if there is no error.
  let words: String

  init(_ error: AFError?, isRight: Bool) {
    words = error.map { "\($0)" } ?? (isRight ? "complete" : "no error, but an incomplete or wrong response")
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
