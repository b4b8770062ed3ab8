// HandlerQueueTests: each method that adds a handler to a request calls it on the given queue.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct HandlerQueueTests {
  /// A queue, and the names of the handlers that have been called on it. A handler called elsewhere is recorded as such.
  private struct Track: Sendable {
    let queue = DispatchQueue(label: "handlers")
    let calls = Recorder<String>()
    let isOnQueue: @Sendable () -> Bool

    init() { isOnQueue = queue.marked() }

    func note(_ name: String) { calls.record(isOnQueue() ? name : "\(name) on another queue") }
  }

  /// Calls `body` with the URL of a server that replies with one digit, and a session whose requests start when resumed.
  private func withDigit(_ body: (String, Session) async throws -> Void) async throws {
    try await withServer { _ in
      Reply(fields: ["Content-Type": "application/json"], .bytes(Array("1".utf8)))
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in try await body(origin.url, session) }
    }
  }

  @Test("each method that adds a handler to a data request calls the handler on the given queue")
  func data() async throws {
    try await withDigit { url, session in
      let track = Track()
      let queue = track.queue
      let request = session.request(url)
      request.onURLRequestCreation(on: queue) { _ in track.note("request") }
      request.onURLSessionTaskCreation(on: queue) { _ in track.note("task") }
      request.cURLDescription(on: queue) { _ in track.note("curl") }
      request.response(queue: queue) { _ in track.note("response") }
      request.response(queue: queue, responseSerializer: DataResponseSerializer()) { _ in track.note("serializer") }
      request.responseData(queue: queue) { _ in track.note("data") }
      request.responseString(queue: queue) { _ in track.note("string") }
      request.responseDecodable(of: Int.self, queue: queue) { _ in track.note("decodable") }
      request.responsePropertyList(queue: queue) { _ in track.note("property list") }
      request.resume()
      let calls = Set(await track.calls.first(9))
      let names = ["request", "task", "curl", "response", "serializer", "data", "string", "decodable", "property list"]
      #expect(calls == Set(names))
    }
  }

  @Test("each response method of a download request calls the handler on the given queue")
  func download() async throws {
    try await withDigit { url, session in
      try await withFolder { folder in
        let track = Track()
        let queue = track.queue
        let request = session.download(url, to: into(folder))
        request.response(queue: queue) { _ in track.note("response") }
        request.response(queue: queue, responseSerializer: DataResponseSerializer()) { _ in track.note("serializer") }
        request.responseURL(queue: queue) { _ in track.note("URL") }
        request.responseData(queue: queue) { _ in track.note("data") }
        request.responseString(queue: queue) { _ in track.note("string") }
        request.responseDecodable(of: Int.self, queue: queue) { _ in track.note("decodable") }
        request.responsePropertyList(queue: queue) { _ in track.note("property list") }
        request.resume()
        let calls = Set(await track.calls.first(7))
        let names = ["response", "serializer", "URL", "data", "string", "decodable", "property list"]
        #expect(calls == Set(names))
      }
    }
  }

  @Test("each response method of a stream request calls the handler on the given queue for values and the completion")
  func stream() async throws {
    try await withDigit { url, session in
      let track = Track()
      let queue = track.queue
      let request = session.streamRequest(url)
      request.responseStream(on: queue) { track.note($0.completion == nil ? "data" : "end of data") }
      request.responseStream(using: .string, on: queue) { track.note($0.completion == nil ? "value" : "end of values") }
      request.responseStreamString(on: queue) { track.note($0.completion == nil ? "string" : "end of strings") }
      request.responseStreamDecodable(of: Int.self, on: queue) {
        track.note($0.completion == nil ? "decodable" : "end of decodables")
      }
      request.resume()
      let calls = Set(await track.calls.first(8))
      let names = [
        "data", "end of data", "value", "end of values", "string", "end of strings", "decodable", "end of decodables",
      ]
      #expect(calls == Set(names))
    }
  }
}
