// ResultTests: the transformations of results and responses, and timelines.

import Foundation
import Testing

@testable import Alamofire4

@Suite struct ResultTests {
  private struct First: Error, Equatable {}
  private struct Second: Error, Equatable {}

  private let success = Result<Int>.success(1)
  private let failure = Result<Int>.failure(First())

  @Test("a Result of Alamofire 4 has either a value or an error")
  func cases() throws {
    #expect(success.isSuccess && !success.isFailure && success.value == 1 && success.error == nil)
    #expect(failure.isFailure && !failure.isSuccess && failure.value == nil && failure.error is First)
    #expect(try success.unwrap() == 1)
    #expect(throws: First()) { try failure.unwrap() }
    #expect(Result { 2 }.value == 2)
    #expect(Result<Int> { throw First() }.error is First)
  }

  @Test("map and flatMap transform a Result's value, and return a failure unchanged")
  func values() {
    #expect(success.map { "\($0)" }.value == "1")
    #expect(failure.map { "\($0)" }.error is First)
    #expect(success.flatMap { $0 + 1 }.value == 2)
    #expect(success.flatMap { _ -> Int in throw Second() }.error is Second)
    #expect(failure.flatMap { $0 + 1 }.error is First)
  }

  @Test("mapError and flatMapError transform a Result's error, and return a success unchanged")
  func errors() {
    #expect(failure.mapError { _ in Second() }.error is Second)
    #expect(success.mapError { _ in Second() }.value == 1)
    #expect(failure.flatMapError { _ in Second() }.error is Second)
    #expect(failure.flatMapError { _ -> First in throw Second() }.error is Second)
    #expect(success.flatMapError { _ in Second() }.value == 1)
  }

  @Test("withValue and ifSuccess call their closure only for a success; withError and ifFailure, only for a failure")
  func effects() {
    var calls: [String] = []
    success.withValue { calls.append("value \($0)") }.withError { _ in calls.append("no") }
      .ifSuccess { calls.append("success") }.ifFailure { calls.append("no") }
    failure.withValue { _ in calls.append("no") }.withError { calls.append("error \($0)") }
      .ifSuccess { calls.append("no") }.ifFailure { calls.append("failure") }
    #expect(calls == ["value 1", "success", "error First()", "failure"])
  }

  @Test("a Result's description is its case, and its debugDescription also contains the value or the error")
  func descriptions() {
    #expect(success.description == "SUCCESS" && failure.description == "FAILURE")
    #expect(success.debugDescription == "SUCCESS: 1" && failure.debugDescription == "FAILURE: First()")
  }

  @Test("transforming a response's value or error keeps the response's other properties")
  func responses() {
    let timeline = Timeline(requestStartTime: 1, serializationCompletedTime: 3)
    let response = DataResponse(request: nil, response: nil, data: Data([1]), result: success, timeline: timeline)
    let mapped = response.map { "\($0)" }
    #expect(mapped.value == "1" && mapped.data == Data([1]) && mapped.timeline.totalDuration == 2)
    #expect(response.flatMap { _ -> Int in throw First() }.error is First)
    #expect(response.mapError { _ in Second() }.value == 1)
    #expect(response.flatMapError { _ in Second() }.value == 1)
    let file = URL(fileURLWithPath: "/tmp/a")
    let download = DownloadResponse(
      request: nil, response: nil, temporaryURL: file, destinationURL: nil, resumeData: nil, result: failure)
    #expect(download.mapError { _ in Second() }.error is Second)
    #expect(download.map { "\($0)" }.temporaryURL == file)
    #expect(download.flatMap { $0 }.error is First)
    #expect(download.flatMapError { _ in Second() }.error is Second)
    #expect(response.description == "SUCCESS: 1")
    #expect(response.debugDescription.contains("[Result]: SUCCESS"))
    #expect(download.debugDescription.contains("[TemporaryURL]: /tmp/a"))
  }

  @Test("a response's descriptions contain no password, no cookie and no text that could control a terminal")
  func hostileText() throws {
    let url = try #require(URL(string: "http://user:s3cret@h/"))
    let raw = "a\u{1B}[2J\u{9B}2J\u{202E}b"
    var request = URLRequest(url: url)
    request.httpBody = Data(raw.utf8)
    let head = HTTPURLResponse(
      url: url, statusCode: 200, httpVersion: nil, headerFields: ["X": raw, "Set-Cookie": "sid=s3cret"])
    let data = DataResponse(request: request, response: head, data: Data("1\n\(raw)".utf8), result: .success(raw))
    let download = DownloadResponse(
      request: request, response: head, temporaryURL: nil, destinationURL: nil, resumeData: nil, result: .success(raw))
    for text in [data.description, data.debugDescription, download.description, download.debugDescription] {
      #expect(!text.unicodeScalars.contains { "\u{1B}\u{9B}\u{202E}".unicodeScalars.contains($0) }, "\(text)")
      #expect(!text.contains("s3cret"), "\(text)")
    }
    #expect(data.debugDescription.contains(#"1\#na\u{1b}[2J\u{9b}2J\u{202e}b"#))
    #expect(download.debugDescription.contains(#"  X: a\u{1b}[2J\u{9b}2J\u{202e}b"#))
  }

  @Test("a Timeline's durations are the differences of its times")
  func timeline() {
    let timeline = Timeline(
      requestStartTime: 10, initialResponseTime: 10.5, requestCompletedTime: 12, serializationCompletedTime: 12.25)
    #expect(timeline.latency == 0.5 && timeline.requestDuration == 2)
    #expect(timeline.serializationDuration == 0.25 && timeline.totalDuration == 2.25)
    #expect(timeline.description.contains("\"Latency\": 0.500 secs"))
    #expect(timeline.debugDescription.contains("\"Request Completed Time\": 12.000"))
    #expect(Timeline().totalDuration == 0)
  }
}
