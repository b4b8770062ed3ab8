// ClosureEventMonitor: each event calls its closure with the event's parameters.

import Foundation
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct ClosureEventMonitorTests {
  private struct Row {
    let name: EventName
    let arguments: (EventFixture) -> [Any?]
    let call: (ClosureEventMonitor, EventFixture) -> Void

    init(
      _ name: EventName, _ arguments: @escaping (EventFixture) -> [Any?],
      _ call: @escaping (ClosureEventMonitor, EventFixture) -> Void
    ) {
      (self.name, self.arguments, self.call) = (name, arguments, call)
    }
  }

  private static var rows: [Row] { urlSessionRows + requestRows }

  private static var urlSessionRows: [Row] {
    [
      Row(.sessionDidBecomeInvalidWithError, { f in [f.session, f.error] }) {
        $0.urlSession($1.session, didBecomeInvalidWithError: $1.error)
      },
      Row(.taskDidReceiveChallenge, { f in [f.session, f.task, f.challenge] }) {
        $0.urlSession($1.session, task: $1.task, didReceive: $1.challenge)
      },
      Row(.taskDidSendBodyData, { f in [f.session, f.task, 1, 2, 3] }) {
        $0.urlSession($1.session, task: $1.task, didSendBodyData: 1, totalBytesSent: 2, totalBytesExpectedToSend: 3)
      },
      Row(.taskNeedNewBodyStream, { f in [f.session, f.task] }) {
        $0.urlSession($1.session, taskNeedsNewBodyStream: $1.task)
      },
      Row(.taskWillPerformHTTPRedirection, { f in [f.session, f.task, f.response, f.initial] }) {
        $0.urlSession($1.session, task: $1.task, willPerformHTTPRedirection: $1.response, newRequest: $1.initial)
      },
      Row(.taskDidFinishCollectingMetrics, { f in [f.session, f.task, f.metrics] }) {
        $0.urlSession($1.session, task: $1.task, didFinishCollecting: $1.metrics)
      },
      Row(.taskDidComplete, { f in [f.session, f.task, f.error] }) {
        $0.urlSession($1.session, task: $1.task, didCompleteWithError: $1.error)
      },
      Row(.taskIsWaitingForConnectivity, { f in [f.session, f.task] }) {
        $0.urlSession($1.session, taskIsWaitingForConnectivity: $1.task)
      },
      Row(.dataTaskDidReceiveResponse, { f in [f.session, f.dataTask, f.response] }) {
        $0.urlSession($1.session, dataTask: $1.dataTask, didReceive: $1.response)
      },
      Row(.dataTaskDidReceiveData, { f in [f.session, f.dataTask, f.data] }) {
        $0.urlSession($1.session, dataTask: $1.dataTask, didReceive: $1.data)
      },
      Row(.dataTaskWillCacheResponse, { f in [f.session, f.dataTask, f.cached] }) {
        $0.urlSession($1.session, dataTask: $1.dataTask, willCacheResponse: $1.cached)
      },
      Row(.downloadTaskDidResumeAtOffset, { f in [f.session, f.downloadTask, 1, 2] }) {
        $0.urlSession($1.session, downloadTask: $1.downloadTask, didResumeAtOffset: 1, expectedTotalBytes: 2)
      },
      Row(.downloadTaskDidWriteData, { f in [f.session, f.downloadTask, 1, 2, 3] }) {
        $0.urlSession(
          $1.session, downloadTask: $1.downloadTask, didWriteData: 1, totalBytesWritten: 2, totalBytesExpectedToWrite: 3
        )
      },
      Row(.downloadTaskDidFinishDownloadingToURL, { f in [f.session, f.downloadTask, f.url] }) {
        $0.urlSession($1.session, downloadTask: $1.downloadTask, didFinishDownloadingTo: $1.url)
      },
    ]
  }

  private static var requestRows: [Row] {
    [
      Row(.requestDidCreateInitialURLRequest, { f in [f.request, f.initial] }) {
        $0.request($1.request, didCreateInitialURLRequest: $1.initial)
      },
      Row(.requestDidFailToCreateURLRequestWithError, { f in [f.request, f.error] }) {
        $0.request($1.request, didFailToCreateURLRequestWithError: $1.error)
      },
      Row(.requestDidAdaptInitialRequestToAdaptedRequest, { f in [f.request, f.initial, f.adapted] }) {
        $0.request($1.request, didAdaptInitialRequest: $1.initial, to: $1.adapted)
      },
      Row(.requestDidFailToAdaptURLRequestWithError, { f in [f.request, f.initial, f.error] }) {
        $0.request($1.request, didFailToAdaptURLRequest: $1.initial, withError: $1.error)
      },
      Row(.requestDidCreateURLRequest, { f in [f.request, f.initial] }) {
        $0.request($1.request, didCreateURLRequest: $1.initial)
      },
      Row(.requestDidCreateTask, { f in [f.request, f.task] }) { $0.request($1.request, didCreateTask: $1.task) },
      Row(.requestDidGatherMetrics, { f in [f.request, f.metrics] }) {
        $0.request($1.request, didGatherMetrics: $1.metrics)
      },
      Row(.requestDidFailTaskEarlyWithError, { f in [f.request, f.task, f.error] }) {
        $0.request($1.request, didFailTask: $1.task, earlyWithError: $1.error)
      },
      Row(.requestDidCompleteTaskWithError, { f in [f.request, f.task, f.error] }) {
        $0.request($1.request, didCompleteTask: $1.task, with: $1.error)
      },
      Row(.requestIsRetrying, { f in [f.request] }) { $0.requestIsRetrying($1.request) },
      Row(.requestDidFinish, { f in [f.request] }) { $0.requestDidFinish($1.request) },
      Row(.requestDidResume, { f in [f.request] }) { $0.requestDidResume($1.request) },
      Row(.requestDidResumeTask, { f in [f.request, f.task] }) { $0.request($1.request, didResumeTask: $1.task) },
      Row(.requestDidSuspend, { f in [f.request] }) { $0.requestDidSuspend($1.request) },
      Row(.requestDidSuspendTask, { f in [f.request, f.task] }) { $0.request($1.request, didSuspendTask: $1.task) },
      Row(.requestDidCancel, { f in [f.request] }) { $0.requestDidCancel($1.request) },
      Row(.requestDidCancelTask, { f in [f.request, f.task] }) { $0.request($1.request, didCancelTask: $1.task) },
      Row(
        .requestDidValidateRequestResponseDataWithResult,
        { f in [f.request, f.initial, f.response, f.data, Request.ValidationResult.success(())] }
      ) {
        $0.request(
          $1.request, didValidateRequest: $1.initial, response: $1.response, data: $1.data, withResult: .success(()))
      },
      Row(.requestDidParseResponse, { f in [f.request, f.dataResponse] }) {
        $0.request($1.request, didParseResponse: $1.dataResponse)
      },
      Row(
        .requestDidValidateRequestResponseWithResult,
        { f in [f.stream, f.initial, f.response, Request.ValidationResult.success(())] }
      ) { $0.request($1.stream, didValidateRequest: $1.initial, response: $1.response, withResult: .success(())) },
      Row(.requestDidCreateUploadable, { f in [f.upload, UploadRequest.Uploadable.data(f.data)] }) {
        $0.request($1.upload, didCreateUploadable: .data($1.data))
      },
      Row(.requestDidFailToCreateUploadableWithError, { f in [f.upload, f.error] }) {
        $0.request($1.upload, didFailToCreateUploadableWithError: $1.error)
      },
      Row(.requestDidProvideInputStream, { f in [f.upload, f.input] }) {
        $0.request($1.upload, didProvideInputStream: $1.input)
      },
      Row(
        .requestDidFinishDownloadingUsingTaskWithResult,
        { f in [f.download, f.task, Result<URL, AFError>.success(f.url)] }
      ) { $0.request($1.download, didFinishDownloadingUsing: $1.task, with: .success($1.url)) },
      Row(.requestDidCreateDestinationURL, { f in [f.download, f.url] }) {
        $0.request($1.download, didCreateDestinationURL: $1.url)
      },
      Row(
        .requestDidValidateRequestResponseFileURLWithResult,
        { f in [f.download, f.initial, f.response, f.url, Request.ValidationResult.success(())] }
      ) {
        $0.request(
          $1.download, didValidateRequest: $1.initial, response: $1.response, fileURL: $1.url, withResult: .success(()))
      },
      Row(.requestDidParseDownloadResponse, { f in [f.download, f.downloadResponse] }) {
        $0.request($1.download, didParseResponse: $1.downloadResponse)
      },
    ]
  }

  @Test("each event calls only the corresponding closure of a ClosureEventMonitor, with the event's parameters")
  func table() {
    let fixture = EventFixture()
    let monitor = ClosureEventMonitor()
    let heard = Heard()
    monitor.setAll(heard.note)
    for row in Self.rows {
      row.call(monitor, fixture)
      let expected = "\(row.name): \(Heard.describe(row.arguments(fixture)))"
      #expect(heard.take() == [expected])
    }
    #expect(Set(Self.rows.map(\.name)).count == EventName.allCases.count - 3)
  }

  @Test("a ClosureEventMonitor ignores events for which no closure is set")
  func nothingSet() {
    let monitor = ClosureEventMonitor()
    let fixture = EventFixture()
    let heard = Heard()
    monitor.requestDidFinish = { heard.note(.requestDidFinish, [$0]) }
    for row in Self.rows { row.call(monitor, fixture) }
    #expect(heard.take().count == 1)
    #expect(monitor.requestDidFinish != nil && monitor.requestDidResume == nil)
    monitor.requestDidFinish = nil
    for row in Self.rows { row.call(monitor, fixture) }
    #expect(heard.take().isEmpty && monitor.requestDidFinish == nil)
  }

  @Test("a subclass of ClosureEventMonitor can override event methods and closure properties")
  func subclass() {
    final class Counting: ClosureEventMonitor, @unchecked Sendable {
      let count = Mutex(0)

      override func requestDidFinish(_ request: Request) {
        count.withLock { $0 += 1 }
        super.requestDidFinish(request)
      }

      override var requestDidResume: ((Request) -> Void)? {
        get { { _ in self.count.withLock { $0 += 10 } } }
        set { super.requestDidResume = newValue }
      }
    }
    let monitor = Counting()
    let fixture = EventFixture()
    let heard = Heard()
    monitor.requestDidFinish = { heard.note(.requestDidFinish, [$0]) }
    monitor.requestDidFinish(fixture.request)
    monitor.requestDidResume(fixture.request)
    #expect(monitor.count.withLock { $0 } == 11)
    #expect(heard.take().count == 1)
  }

  @Test("a closure of ClosureEventMonitor can set another closure while it is being called")
  func reentrance() {
    let monitor = ClosureEventMonitor()
    let fixture = EventFixture()
    let heard = Heard()
    monitor.requestDidResume = { [unowned monitor] _ in
      monitor.requestDidFinish = { heard.note(.requestDidFinish, [$0]) }
    }
    monitor.requestDidResume(fixture.request)
    monitor.requestDidFinish(fixture.request)
    #expect(heard.take().count == 1)
  }
}

/// Records the calls of a ClosureEventMonitor's closures as text, with the event's name and parameters.
private final class Heard: Sendable {
  private let texts = Mutex<[String]>([])

  static func describe(_ values: [Any?]) -> String {
    values.map { $0.map { String(describing: $0) } ?? "nil" }.joined(separator: ", ")
  }

  func note(_ name: EventName, _ values: [Any?]) {
    let text = "\(name): \(Heard.describe(values))"
    texts.withLock { $0.append(text) }
  }

  func take() -> [String] {
    texts.withLock { texts in
      defer { texts = [] }
      return texts
    }
  }
}

extension ClosureEventMonitor {
  /// Sets each closure of the monitor, such as `requestDidResume`, to call `heard` with the event's name and parameters.
  fileprivate func setAll(_ heard: @escaping (EventName, [Any?]) -> Void) {
    sessionDidBecomeInvalidWithError = { heard(.sessionDidBecomeInvalidWithError, [$0, $1]) }
    taskDidReceiveChallenge = { heard(.taskDidReceiveChallenge, [$0, $1, $2]) }
    taskDidSendBodyData = { heard(.taskDidSendBodyData, [$0, $1, $2, $3, $4]) }
    taskNeedNewBodyStream = { heard(.taskNeedNewBodyStream, [$0, $1]) }
    taskWillPerformHTTPRedirection = { heard(.taskWillPerformHTTPRedirection, [$0, $1, $2, $3]) }
    taskDidFinishCollectingMetrics = { heard(.taskDidFinishCollectingMetrics, [$0, $1, $2]) }
    taskDidComplete = { heard(.taskDidComplete, [$0, $1, $2]) }
    taskIsWaitingForConnectivity = { heard(.taskIsWaitingForConnectivity, [$0, $1]) }
    dataTaskDidReceiveResponse = { heard(.dataTaskDidReceiveResponse, [$0, $1, $2]) }
    dataTaskDidReceiveData = { heard(.dataTaskDidReceiveData, [$0, $1, $2]) }
    dataTaskWillCacheResponse = { heard(.dataTaskWillCacheResponse, [$0, $1, $2]) }
    downloadTaskDidResumeAtOffset = { heard(.downloadTaskDidResumeAtOffset, [$0, $1, $2, $3]) }
    downloadTaskDidWriteData = { heard(.downloadTaskDidWriteData, [$0, $1, $2, $3, $4]) }
    downloadTaskDidFinishDownloadingToURL = { heard(.downloadTaskDidFinishDownloadingToURL, [$0, $1, $2]) }
    requestDidCreateInitialURLRequest = { heard(.requestDidCreateInitialURLRequest, [$0, $1]) }
    requestDidFailToCreateURLRequestWithError = { heard(.requestDidFailToCreateURLRequestWithError, [$0, $1]) }
    requestDidAdaptInitialRequestToAdaptedRequest = {
      heard(.requestDidAdaptInitialRequestToAdaptedRequest, [$0, $1, $2])
    }
    requestDidFailToAdaptURLRequestWithError = { heard(.requestDidFailToAdaptURLRequestWithError, [$0, $1, $2]) }
    requestDidCreateURLRequest = { heard(.requestDidCreateURLRequest, [$0, $1]) }
    requestDidCreateTask = { heard(.requestDidCreateTask, [$0, $1]) }
    requestDidGatherMetrics = { heard(.requestDidGatherMetrics, [$0, $1]) }
    requestDidFailTaskEarlyWithError = { heard(.requestDidFailTaskEarlyWithError, [$0, $1, $2]) }
    requestDidCompleteTaskWithError = { heard(.requestDidCompleteTaskWithError, [$0, $1, $2]) }
    requestIsRetrying = { heard(.requestIsRetrying, [$0]) }
    requestDidFinish = { heard(.requestDidFinish, [$0]) }
    requestDidResume = { heard(.requestDidResume, [$0]) }
    requestDidResumeTask = { heard(.requestDidResumeTask, [$0, $1]) }
    requestDidSuspend = { heard(.requestDidSuspend, [$0]) }
    requestDidSuspendTask = { heard(.requestDidSuspendTask, [$0, $1]) }
    requestDidCancel = { heard(.requestDidCancel, [$0]) }
    requestDidCancelTask = { heard(.requestDidCancelTask, [$0, $1]) }
    requestDidValidateRequestResponseDataWithResult = {
      heard(.requestDidValidateRequestResponseDataWithResult, [$0, $1, $2, $3, $4])
    }
    requestDidParseResponse = { heard(.requestDidParseResponse, [$0, $1]) }
    requestDidValidateRequestResponseWithResult = {
      heard(.requestDidValidateRequestResponseWithResult, [$0, $1, $2, $3])
    }
    requestDidCreateUploadable = { heard(.requestDidCreateUploadable, [$0, $1]) }
    requestDidFailToCreateUploadableWithError = { heard(.requestDidFailToCreateUploadableWithError, [$0, $1]) }
    requestDidProvideInputStream = { heard(.requestDidProvideInputStream, [$0, $1]) }
    requestDidFinishDownloadingUsingTaskWithResult = {
      heard(.requestDidFinishDownloadingUsingTaskWithResult, [$0, $1, $2])
    }
    requestDidCreateDestinationURL = { heard(.requestDidCreateDestinationURL, [$0, $1]) }
    requestDidValidateRequestResponseFileURLWithResult = {
      heard(.requestDidValidateRequestResponseFileURLWithResult, [$0, $1, $2, $3, $4])
    }
    requestDidParseDownloadResponse = { heard(.requestDidParseDownloadResponse, [$0, $1]) }
  }
}
