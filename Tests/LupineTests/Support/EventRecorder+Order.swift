// Expected events, and functions that compare them with an event recorder's.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

/// Events that occur in sequence, from which the expected events of a request are composed.
enum EventPart {
  static let built: [EventName] = [
    .requestDidCreateInitialURLRequest, .requestDidCreateURLRequest, .requestDidCreateTask,
  ]
  static let builtWithInterceptor: [EventName] = [
    .requestDidCreateInitialURLRequest, .requestDidAdaptInitialRequestToAdaptedRequest, .requestDidCreateURLRequest,
    .requestDidCreateTask,
  ]
  /// The events for a received response that isn't cacheable, such as an error.
  static let receivedError: [EventName] = [.dataTaskDidReceiveResponse, .dataTaskDidReceiveData]
  static let received: [EventName] = receivedError + [.dataTaskWillCacheResponse]
  static let measured: [EventName] = [.taskDidFinishCollectingMetrics, .requestDidGatherMetrics, .taskDidComplete]
  static let completed: [EventName] = measured + [.requestDidCompleteTaskWithError]
  static let finished: [EventName] = [.requestDidFinish, .requestDidParseResponse]
  /// From the task's start to the response handler, for a request that succeeds without retries or redirects.
  static let run: [EventName] = [.requestDidResumeTask] + received + completed + finished
}

extension EventRecorder {
  /// Resumes a request, waits for its response, and returns its events.
  func events(of request: DataRequest) async -> [EventName] {
    request.resume()
    _ = await request.outcome()
    // outcome() adds a second handler to detect repeated calls; its event is dropped below.
    let names = await names(about: request)
    #expect(names.last == .requestDidParseResponse)
    #expect(misplacedCount == 0)
    return Array(names.dropLast())
  }

  /// Resumes a request, waits for its response, and compares its events.
  func expect(
    _ request: DataRequest, _ expected: [EventName], sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let names = await events(of: request)
    #expect(names == expected, sourceLocation: sourceLocation)
  }

  /// Compares the request's events so far, without resuming it.
  func expectSoFar(
    _ request: DataRequest, _ expected: [EventName], sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let names = await names(about: request)
    #expect(names == expected, sourceLocation: sourceLocation)
  }
}
