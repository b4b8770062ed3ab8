// `DownloadResponse`: its parts, transformations and descriptions.

import Foundation
import Lupine
import Testing

@Suite struct DownloadResponseTests {
  private struct Failure: Error, Equatable { let number: Int }

  private func response<Success: Sendable>(_ result: Result<Success, Failure>) throws -> DownloadResponse<
    Success, Failure
  > {
    var request = try URLRequest(url: "https://h/large", method: .get, headers: ["X-A": "1"])
    request.httpBody = Data([1, 2])
    return DownloadResponse(
      request: request,
      response: HTTPURLResponse(
        url: try "https://h/large".asURL(), statusCode: 206, httpVersion: nil, headerFields: ["B": "2", "A": "1"]),
      fileURL: URL(filePath: "/tmp/file"), resumeData: Data(count: 5), metrics: nil, serializationDuration: 0.5,
      result: result)
  }

  /// Checks that two responses are equal in all properties except the result.
  private func expectSame<A, B, C, D>(_ left: DownloadResponse<A, B>, _ right: DownloadResponse<C, D>) {
    #expect(left.request == right.request && left.response === right.response && left.metrics === right.metrics)
    #expect(left.fileURL == right.fileURL && left.resumeData == right.resumeData)
    #expect(left.serializationDuration == right.serializationDuration)
  }

  @Test("a download response's value and error are those of its result")
  func parts() throws {
    let success: AFDownloadResponse<Int> = DownloadResponse(
      request: nil, response: nil, fileURL: nil, resumeData: nil, metrics: nil, serializationDuration: 0,
      result: .success(7))
    #expect(success.value == 7 && success.error == nil)
    let failure = try response(Result<Int, Failure>.failure(Failure(number: 1)))
    #expect(failure.value == nil && failure.error == Failure(number: 1))
  }

  @Test("transforming a download response changes only the value or the error")
  func transformations() throws {
    let success = try response(Result<Int, Failure>.success(7))
    let failure = try response(Result<Int, Failure>.failure(Failure(number: 1)))

    let mapped = success.map { "\($0)" }
    #expect(mapped.value == "7")
    expectSame(mapped, success)
    #expect(failure.map { "\($0)" }.error == Failure(number: 1))

    let tried = success.tryMap { _ -> String in throw Failure(number: 2) }
    #expect(tried.error as? Failure == Failure(number: 2))
    expectSame(tried, success)
    #expect(success.tryMap { $0 + 1 }.value == 8)
    #expect(failure.tryMap { $0 + 1 }.error as? Failure == Failure(number: 1))

    let mappedError = failure.mapError { Failure(number: $0.number + 1) }
    #expect(mappedError.error == Failure(number: 2))
    expectSame(mappedError, failure)
    #expect(success.mapError { Failure(number: $0.number + 1) }.value == 7)

    let triedError = failure.tryMapError { _ -> Failure in throw CancellationError() }
    #expect(triedError.error is CancellationError)
    expectSame(triedError, failure)
    #expect(failure.tryMapError { Failure(number: $0.number + 4) }.error as? Failure == Failure(number: 5))
    #expect(success.tryMapError { $0 }.value == 7)
  }

  @Test("a download response's description shows the result, and its debug description shows all parts of the response")
  func descriptions() throws {
    let response = try response(.success("text"))
    #expect(response.description == "success(\"text\")")
    #expect(
      response.debugDescription == """
        request: GET https://h/large
          X-A: 1
        request body: 2 bytes
        response: 206
          A: 1
          B: 2
        file: /tmp/file
        resume data: 5 bytes
        serialization: 0.5 s
        result: success("text")
        """)
    let nothing = AFDownloadResponse<Int>(
      request: nil, response: nil, fileURL: nil, resumeData: nil, metrics: nil, serializationDuration: 0,
      result: .failure(.explicitlyCancelled))
    #expect(nothing.debugDescription.hasPrefix("request: none\nresponse: none\nfile: none\nresume data: none\n"))
    #expect(nothing.debugDescription.hasSuffix("\nresult: \(nothing.result)"))
  }
}
