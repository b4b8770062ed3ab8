// Descriptions of nested errors: each cause and each path appears once, followed by one remedy.

import Foundation
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct AFErrorNestingTests {
  private struct Broken: LocalizedError {
    var errorDescription: String? { "The thing broke." }
  }

  private static let file = URL(filePath: "/folder/file")

  /// Closures that each wrap an error in one of the AFError cases or reasons with an underlying error. `requestRetryFailed` is
  /// omitted because it wraps two errors.
  private static let wrappers: [@Sendable (any Error) -> AFError] = [
    { .createURLRequestFailed(error: $0) }, { .createUploadableFailed(error: $0) },
    { .downloadedFileMoveFailed(error: $0, source: file, destination: URL(filePath: "/target/file")) },
    { .multipartEncodingFailed(reason: .bodyPartFileNotReachableWithError(atURL: file, error: $0)) },
    { .multipartEncodingFailed(reason: .bodyPartFileSizeQueryFailedWithError(forURL: file, error: $0)) },
    { .multipartEncodingFailed(reason: .outputStreamWriteFailed(error: $0)) },
    { .multipartEncodingFailed(reason: .inputStreamReadFailed(error: $0)) },
    { .parameterEncoderFailed(reason: .encoderFailed(error: $0)) },
    { .parameterEncodingFailed(reason: .jsonEncodingFailed(error: $0)) },
    { .parameterEncodingFailed(reason: .customEncodingFailed(error: $0)) },
    { .requestAdaptationFailed(error: $0) },
    { .responseSerializationFailed(reason: .jsonSerializationFailed(error: $0)) },
    { .responseSerializationFailed(reason: .decodingFailed(error: $0)) },
    { .responseSerializationFailed(reason: .customSerializationFailed(error: $0)) },
    { .responseValidationFailed(reason: .customValidationFailed(error: $0)) },
    { .serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: $0)) },
    { .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: $0)) },
    { .sessionInvalidated(error: $0) }, { .sessionTaskFailed(error: $0) },
  ]

  @Test("the samples for nested descriptions include every AFError case and reason that wraps a single error")
  func table() {
    let wrapping = AFErrorTests.table.filter { $0.wraps && !$0.error.isRequestRetryError }
    #expect(
      Set(Self.wrappers.map { "\($0(CancellationError()))".prefix { $0 != "C" } }).count == Self.wrappers.count)
    #expect(wrapping.count == Self.wrappers.count)
  }

  @Test(
    "the description of an error that is wrapped twice in the same AFError case contains that case's text only once")
  func same() {
    for wrap in Self.wrappers {
      #expect(wrap(wrap(Broken())).localizedDescription == wrap(Broken()).localizedDescription)
    }
  }

  @Test("the description of an AFError ends with the wrapped error's description, including its remedy")
  func remedies() {
    let inner: [any Error] = [
      AFError.explicitlyCancelled, AuthenticationError.missingCredential, PropertyListError.unknownFormat,
      JSONEncoding.Error.invalidJSONObject, DeflateRequestCompressor.DuplicateHeaderError(),
      AFError.UnexpectedInputStreamLength(bytesExpected: 1, bytesRead: 2),
      AFError.ForbiddenPartHeader(name: "Content-Type", value: "a\nb"),
      URLEncodedFormEncoder.Error.invalidRootObject("Encode an object."),
    ]
    for wrap in Self.wrappers {
      for error in inner {
        let text = wrap(error).localizedDescription
        #expect(text.hasSuffix(": \(error.localizedDescription)"), "\(text)")
      }
      #expect(wrap(Broken()).localizedDescription.contains(": The thing broke."))
    }
  }

  @Test("the description of a failed retry contains each failure only once, however many retriers have failed")
  func retries() {
    func failed(_ retry: any Error, _ original: any Error) -> String {
      AFError.requestRetryFailed(retryError: retry, originalError: original).localizedDescription
    }
    let original = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 418))
    let once = "The request failed: \(original.localizedDescription) The request's retrier failed too: The thing broke."
    #expect(failed(Broken(), original) == once)
    let first = AFError.requestRetryFailed(retryError: Broken(), originalError: original)
    #expect(failed(Broken(), first) == once)
    #expect(failed(first, first) == once)
    #expect(failed(first, original) == once)
    #expect(failed(original, original) == "The request failed: \(original.localizedDescription)")
    let other = AFError.sessionDeinitialized
    #expect(failed(other, first) == "\(once) \(other.localizedDescription)")
    // The retrier returned the URLError without the AFError that wraps it.
    let timeout = URLError(.timedOut)
    let transfer = AFError.sessionTaskFailed(error: timeout)
    #expect(failed(timeout, transfer) == "The request failed: \(transfer.localizedDescription)")
  }

  @Test("if a retrier fails, the error's description contains the request's error and the retrier's error once each")
  func retrier() async throws {
    try await withServer { _ in
      .text("no", status: 418)
    } _: { origin in
      try await withSession { session in
        let retrier = Retrier { _, _, _, completion in completion(.doNotRetryWithError(Broken())) }
        let request = session.request(origin.url, interceptor: retrier).validate()
        let error = try #require(await request.serializingData().response.error)
        #expect(error.isRequestRetryError)
        let text = error.localizedDescription
        for part in ["The request failed", "418", "retrier failed too", "The thing broke."] {
          #expect(text.components(separatedBy: part).count == 2, "\(part) in: \(text)")
        }
      }
    }
  }

  @Test("the description of the error for a failed file move contains each path once, and one remedy")
  func moves() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          let target = folder.appending(path: "missing/file")
          let response = await session.download(origin.url, to: { _, _ in (target, []) }).outcome()
          guard case .downloadedFileMoveFailed(_, let source, _)? = response.error else {
            return #expect(response.error?.isDownloadedFileMoveError == true)
          }
          let text = try #require(response.error?.localizedDescription)
          for part in [source.path, target.path] {
            #expect(text.components(separatedBy: part).count == 2, "\(text)")
          }
          #expect(text.hasSuffix("Create the directory first, or pass .createIntermediateDirectories."), "\(text)")
          #expect(!text.contains("Check that"), "\(text)")
        }
      }
    }
  }
}
