// What every failed transfer has to show: AFError, URLError, EngineError, and a text with place and remedy.

import Foundation
import Lupine
import LupineEngine
import Testing

/// Checks the three layers of an error, and that its text holds each of `parts`; returns the engine's error.
@discardableResult
func expectTransferError(
  _ error: AFError?, _ code: URLError.Code, _ engineCode: EngineError.Code, _ parts: String...,
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> EngineError {
  let error = try #require(error, "the request has succeeded", sourceLocation: sourceLocation)
  guard case .sessionTaskFailed = error else {
    Issue.record("another case: \(error)", sourceLocation: sourceLocation)
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
  // The remedy: a second sentence.
  #expect(text.hasSuffix(".") && text.dropLast().contains(". "), "\(text)", sourceLocation: sourceLocation)
  return engineError
}
