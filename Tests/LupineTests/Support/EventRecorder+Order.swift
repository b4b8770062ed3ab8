// What event recorders have heard, compared with what is to be heard.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

/// Events that come one behind the other.
enum EventPart {
  static let built: [EventName] = [
    .requestDidCreateInitialURLRequest, .requestDidCreateURLRequest, .requestDidCreateTask,
  ]
  static let builtWithInterceptor: [EventName] = [
    .requestDidCreateInitialURLRequest, .requestDidAdaptInitialRequestToAdaptedRequest, .requestDidCreateURLRequest,
    .requestDidCreateTask,
  ]
  /// Of a response that no cache would store.
  static let receivedError: [EventName] = [.dataTaskDidReceiveResponse, .dataTaskDidReceiveData]
  static let received: [EventName] = receivedError + [.dataTaskWillCacheResponse]
  static let measured: [EventName] = [.taskDidFinishCollectingMetrics, .requestDidGatherMetrics, .taskDidComplete]
  static let completed: [EventName] = measured + [.requestDidCompleteTaskWithError]
  static let finished: [EventName] = [.requestDidFinish, .requestDidParseResponse]
  /// From the task's start to the response handler, where nothing is out of the ordinary.
  static let run: [EventName] = [.requestDidResumeTask] + received + completed + finished
}

extension EventRecorder {
  /// Resumes a request, waits for its response, and returns its events.
  func events(of request: DataRequest) async -> [EventName] {
    request.resume()
    _ = await request.outcome()
    // outcome() adds a handler behind the one whose response it returns.
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

  /// Compares what has happened to a request so far.
  func expectSoFar(
    _ request: DataRequest, _ expected: [EventName], sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let names = await names(about: request)
    #expect(names == expected, sourceLocation: sourceLocation)
  }
}
