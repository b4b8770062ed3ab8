// ClockTrial: sets the wall clock during requests.

import CLupineFaults
import Foundation
import Lupine
import LupineEngine
import LupineOrigin

/// Tests that time limits and delays are correct while the system's clock is set forward or back by a day.
enum ClockTrial {
  private static let day = 24 * 60 * 60

  /// Runs the tests, prints the problems, and returns the exit status of the process.
  static func run() async throws -> CInt {
    let origin = try OriginServer { peer in
      guard let request = try peer.readRequest() else { return }
      if request.path == "/hold" { _ = try peer.awaitClose() }
      if request.path == "/refuse" { return try peer.respond(status: 503, fields: ["Connection": "close"]) }
      try peer.beginChunked()
      for _ in 0..<4 {
        try peer.pause(for: .milliseconds(20))
        try peer.chunk("piece")
      }
      try peer.endChunked()
    }
    defer { origin.stop() }
    var problems: [String] = []
    for jump in [day, -day] {
      if let problem = try await receive(origin.url, jump) { problems.append("set by \(jump) s: \(problem)") }
      if let problem = await hold(origin.url + "/hold", jump) { problems.append("set by \(jump) s: \(problem)") }
      if let problem = await retry(origin.url + "/refuse", jump) { problems.append("set by \(jump) s: \(problem)") }
    }
    for problem in problems { say(problem) }
    return problems.isEmpty ? 0 : 1
  }

  private static func session(timeout: Double) -> Session {
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.timeoutIntervalForRequest = timeout
    configuration.timeoutIntervalForResource = 3_600
    configuration.engine.proxy = .none
    return Session(configuration: configuration)
  }

  /// Receives a streamed response, and moves the clock by `jump` seconds or back after each piece. Returns a description of the
  /// problem, or nil if there is none.
  private static func receive(_ url: String, _ jump: Int) async throws -> String? {
    let session = session(timeout: 60)
    defer { lupine_faults_set_clock(0) }
    let before = Date()
    var (text, count) = ("", 0)
    for await event in session.streamRequest(url).streamTask().streamingStrings() {
      count += 1
      lupine_faults_set_clock(count.isMultiple(of: 2) ? 0 : jump)
      if count == 1, abs(Date().timeIntervalSince(before)) < Double(day - 60) { return "the clock wasn't set" }
      if let value = event.value { text += value }
      if let error = event.completion?.error { return "a response failed: \(error)" }
    }
    return text == "piecepiecepiecepiece" ? nil : "a response was \(text)"
  }

  /// Waits for a response that never arrives, and checks that setting the clock doesn't change the time limit. Returns a
  /// description of the problem, or nil.
  private static func hold(_ url: String, _ jump: Int) async -> String? {
    let session = session(timeout: 0.4)
    let start = ContinuousClock.now
    let task = session.request(url).serializingData()
    lupine_faults_set_clock(jump)
    defer { lupine_faults_set_clock(0) }
    let error = await task.response.error?.underlyingError as? URLError
    let took = ContinuousClock.now - start
    guard error?.code == .timedOut, took > .milliseconds(390), took < .seconds(20) else {
      return "a silent server: \(error.map { "\($0)" } ?? "no error") after \(took)"
    }
    return nil
  }

  /// Checks that a retry starts after the delay that its retrier has set, although the clock is set meanwhile. Returns a
  /// description of the problem, or nil.
  private static func retry(_ url: String, _ jump: Int) async -> String? {
    let session = session(timeout: 60)
    let start = ContinuousClock.now
    defer { lupine_faults_set_clock(0) }
    let retrier = Retrier { request, _, _, completion in
      completion(request.retryCount == 0 ? .retryWithDelay(0.3) : .doNotRetry)
      lupine_faults_set_clock(jump)
    }
    let response = await session.request(url, interceptor: Interceptor(adapters: [], retriers: [retrier])).validate()
      .serializingData().response
    let took = ContinuousClock.now - start
    guard response.response?.statusCode == 503, took > .milliseconds(290), took < .seconds(20) else {
      return "a retry after 0.3 s: \(response) after \(took)"
    }
    return nil
  }
}
