// Checks of the error of a failed transfer: `AFError`, `URLError`, `EngineError`, and their text.

import Foundation
import Lupine
import LupineEngine
import Testing

/// Checks that an AFError wraps a URLError that wraps an EngineError, with these codes. Checks that the description has a
/// remedy, and contains the origin and each of `parts`. Returns the EngineError.
@discardableResult
func expectTransferError(
  _ error: AFError?, _ code: URLError.Code, _ engineCode: EngineError.Code, _ parts: String...,
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> EngineError {
  let error = try #require(error, "the request succeeded", sourceLocation: sourceLocation)
  guard case .sessionTaskFailed = error else {
    Issue.record("not sessionTaskFailed: \(error)", sourceLocation: sourceLocation)
    throw error
  }
  let urlError = try #require(error.underlyingError as? URLError, sourceLocation: sourceLocation)
  #expect(urlError.code == code, "\(urlError)", sourceLocation: sourceLocation)
  let engineError = try #require(
    urlError.userInfo[NSUnderlyingErrorKey] as? EngineError, sourceLocation: sourceLocation)
  #expect(engineError.code == engineCode, sourceLocation: sourceLocation)
  let text = error.localizedDescription
  #expect(urlError.failingURL != nil, sourceLocation: sourceLocation)
  #expect(text.contains(engineError.origin.description), "\(text)", sourceLocation: sourceLocation)
  for part in parts { #expect(text.contains(part), "\(text)", sourceLocation: sourceLocation) }
  // The remedy is the second sentence of the description.
  #expect(text.hasSuffix(".") && text.dropLast().contains(". "), "\(text)", sourceLocation: sourceLocation)
  return engineError
}
