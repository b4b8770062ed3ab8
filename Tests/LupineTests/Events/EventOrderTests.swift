// The complete events of data requests, in the order in which monitors receive them.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct EventOrderTests {
  let recorder = EventRecorder()

  // MARK: One attempt

  @Test("with lazy setup, the URLRequest is created after the request is resumed")
  func lazy() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        await recorder.expect(session.request(origin.url), [.requestDidResume] + EventPart.built + EventPart.run)
      }
    }
  }

  @Test("with eager setup, the URLRequest is created immediately, and the request is resumed after its task exists")
  func eager() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder], setup: .eager) { session in
        let request = session.request(origin.url)
        await recorder.expectSoFar(request, EventPart.built)
        await recorder.expect(request, EventPart.built + [.requestDidResume] + EventPart.run)
      }
    }
  }

  @Test(
    "the order of a request's events is the same if the session has separate request and serialization queues",
    arguments: [Session.RequestSetup.lazy, .eager])
  func otherQueues(setup: Session.RequestSetup) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession(
        [recorder], setup: setup, requestQueue: DispatchQueue(label: "building"),
        serializationQueue: DispatchQueue(label: "serialization")
      ) { session in
        let request = session.request(origin.url)
        if setup == .eager {
          let tasks = Recorder<URLSessionTask>()
          request.onURLSessionTaskCreation(on: .global()) { tasks.record($0) }
          _ = await tasks.next()
          await recorder.expect(request, EventPart.built + [.requestDidResume] + EventPart.run)
        } else {
          await recorder.expect(request, [.requestDidResume] + EventPart.built + EventPart.run)
        }
      }
    }
  }

  @Test("if both the session and the request have adapters, monitors receive only one event for the adaptation")
  func adapters() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let adapter = Adapter { request, _, completion in
        var request = request
        request.headers.add(name: "Adapted", value: "yes")
        completion(.success(request))
      }
      try await withMonitoredSession([recorder], interceptor: Interceptor(adapters: [adapter])) { session in
        let request = session.request(origin.url).adapt(using: adapter)
        await recorder.expect(
          request,
          [
            .requestDidResume, .requestDidCreateInitialURLRequest, .requestDidAdaptInitialRequestToAdaptedRequest,
            .requestDidCreateURLRequest, .requestDidCreateTask,
          ] + EventPart.run)
      }
    }
  }

  @Test("a response without a body causes no event for received data")
  func head() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        await recorder.expect(
          session.request(origin.url, method: .head),
          [.requestDidResume] + EventPart.built + EventPart.run.filter { $0 != .dataTaskDidReceiveData })
      }
    }
  }

  @Test("each redirect of a request causes an event with the same task, and metrics are gathered once")
  func redirects() async throws {
    try await withServer { request in
      switch request.path {
      case "/2": Reply(status: 302, fields: ["Location": "/1"])
      case "/1": Reply(status: 307, fields: ["Location": "/0"])
      default: .text("here")
      }
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url + "/2")
        let hop = EventName.taskWillPerformHTTPRedirection
        await recorder.expect(
          request,
          [.requestDidResume] + EventPart.built + [.requestDidResumeTask, hop, hop]
            + EventPart.run.dropFirst())
        #expect(request.allMetrics.count == 1)
      }
    }
  }

  @Test("a request's validations run before the task's completion event, and stop at the first failure")
  func validation() async throws {
    try await withServer { request in
      .text("here", status: request.path == "/good" ? 200 : 404)
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let validated = EventName.requestDidValidateRequestResponseDataWithResult
        func expected(_ received: [EventName], _ count: Int) -> [EventName] {
          [.requestDidResume] + EventPart.built + [.requestDidResumeTask] + received + EventPart.measured
            + Array(repeating: validated, count: count) + [.requestDidCompleteTaskWithError] + EventPart.finished
        }
        await recorder.expect(session.request(origin.url + "/good").validate(), expected(EventPart.received, 2))
        await recorder.expect(session.request(origin.url + "/bad").validate(), expected(EventPart.receivedError, 1))
      }
    }
  }

  @Test("each response handler causes one event, with or without a serializer")
  func handlers() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url)
        request.responseString(queue: .global()) { _ in }.response(queue: .global()) { _ in }
        await recorder.expect(
          request,
          [.requestDidResume] + EventPart.built + EventPart.run.dropLast()
            + [.requestDidParseValue, .requestDidParseResponse, .requestDidParseResponse])
      }
    }
  }

  @Test("adding a response handler to a finished request causes only the event of that handler")
  func lateHandler() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withMonitoredSession([recorder]) { session in
        let request = session.request(origin.url)
        let before = await recorder.events(of: request)
        _ = await request.serializingString().response
        await recorder.expectSoFar(request, before + [.requestDidParseResponse, .requestDidParseValue])
      }
    }
  }

  // MARK: Failures without a response

  @Test("if a URLRequest can't be created, the request finishes without a task")
  func creationFailure() async throws {
    try await withMonitoredSession([recorder]) { session in
      await recorder.expect(
        session.request(""),
        [.requestDidResume, .requestDidFailToCreateURLRequestWithError]
          + EventPart.finished)
    }
  }

  @Test("if an adapter fails, the request finishes without a task")
  func adapterFailure() async throws {
    try await withMonitoredSession([recorder]) { session in
      let request = session.request("http://127.0.0.1:1")
        .adapt(using: Adapter { _, _, completion in completion(.failure(Mishap("unwilling"))) })
      await recorder.expect(
        request,
        [
          .requestDidResume, .requestDidCreateInitialURLRequest, .requestDidFailToAdaptURLRequestWithError,
        ] + EventPart.finished)
    }
  }

  @Test("a request to an unreachable server causes a metrics event, but none for a response or data")
  func connectionFailure() async throws {
    try await withMonitoredSession([recorder]) { session in
      await recorder.expect(
        session.request("http://127.0.0.1:1"),
        [.requestDidResume] + EventPart.built
          + [.requestDidResumeTask] + EventPart.completed + EventPart.finished)
    }
  }
}
