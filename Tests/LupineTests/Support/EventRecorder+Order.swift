// Expected events, and functions that compare them with an event recorder's.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

/// Sequences of events that many requests have in common. Tests compose the expected events of a request from them.
enum EventPart {
  static let built: [EventName] = [
    .requestDidCreateInitialURLRequest, .requestDidCreateURLRequest, .requestDidCreateTask,
  ]
  static let builtWithInterceptor: [EventName] = [
    .requestDidCreateInitialURLRequest, .requestDidAdaptInitialRequestToAdaptedRequest, .requestDidCreateURLRequest,
    .requestDidCreateTask,
  ]
  /// The events of a response that can't be cached, such as an error response.
  static let receivedError: [EventName] = [.dataTaskDidReceiveResponse, .dataTaskDidReceiveData]
  static let received: [EventName] = receivedError + [.dataTaskWillCacheResponse]
  static let measured: [EventName] = [.taskDidFinishCollectingMetrics, .requestDidGatherMetrics, .taskDidComplete]
  static let completed: [EventName] = measured + [.requestDidCompleteTaskWithError]
  static let finished: [EventName] = [.requestDidFinish, .requestDidParseResponse]
  /// The events from the task's start to the response handler, for a request that succeeds without a retry or redirect.
  static let run: [EventName] = [.requestDidResumeTask] + received + completed + finished
}

extension EventRecorder {
  /// Resumes the request, waits for the response, and returns the request's events in order.
  func events(of request: DataRequest) async -> [EventName] {
    request.resume()
    _ = await request.outcome()
    // outcome() adds a second handler to detect repeated calls; its event is dropped below.
    let names = await names(about: request)
    #expect(names.last == .requestDidParseResponse)
    #expect(misplacedCount == 0)
    return Array(names.dropLast())
  }

  /// Resumes the request, waits for the response, and checks that the request has caused exactly the expected events.
  func expect(
    _ request: DataRequest, _ expected: [EventName], sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let names = await events(of: request)
    #expect(names == expected, sourceLocation: sourceLocation)
  }

  /// Checks that the request has caused exactly the expected events so far. Doesn't resume the request.
  func expectSoFar(
    _ request: DataRequest, _ expected: [EventName], sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let names = await names(about: request)
    #expect(names == expected, sourceLocation: sourceLocation)
  }
}
