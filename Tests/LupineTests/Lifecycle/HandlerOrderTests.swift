// Handlers that a request has queued before its end, such as those for progress, run before its response handlers.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct HandlerOrderTests {
  /// The queue of the response handler: the root queue or another one. All other handlers are on the root queue.
  enum Place: CaseIterable, Sendable { case root, other }

  enum Kind: CaseIterable, Sendable { case data, upload, multipartFile, download, stream }

  /// Records the order of handler calls on the root queue and on the response handler's queue.
  private final class Track: Sendable {
    let log = Log<String>()
    let root: DispatchQueue
    let queue: DispatchQueue
    private let hasEnded = Gate()
    private let other = DispatchQueue(label: "responses")

    init(_ session: Session, _ place: Place) {
      root = session.rootQueue
      queue = place == .root ? session.rootQueue : other
    }

    /// Records the call of a handler on the root queue. If the response handler is already queued, it runs first, so that the
    /// log shows a wrong order.
    func note(_ entry: String) {
      other.sync {}
      log.note(entry)
    }

    /// Records the call of the response handler.
    func noteEnd() {
      log.note("end")
      hasEnded.open()
    }

    /// Waits for the response handler, then for all work queued on both queues so far. Returns the recorded calls in order.
    func entries() async -> [String] {
      await hasEnded.wait()
      await root.drain()
      await other.drain()
      return log.entries
    }
  }

  private func request(
    _ kind: Kind, to url: String, in session: Session, _ folder: URL, endingOn track: Track
  ) -> Request {
    switch kind {
    case .data:
      return session.request(url).onHTTPResponse(on: track.root) { _ in track.note("head") }
        .response(queue: track.queue) { _ in track.noteEnd() }
    case .upload:
      return session.upload(Pattern.data(1000), to: url).response(queue: track.queue) { _ in track.noteEnd() }
    case .multipartFile:
      return session.upload(
        multipartFormData: { $0.append(Pattern.data(300_000), withName: "a") }, to: url, usingThreshold: 0
      )
      .response(queue: track.queue) { _ in track.noteEnd() }
    case .download:
      return session.download(url, to: into(folder)).response(queue: track.queue) { _ in track.noteEnd() }
    case .stream:
      return session.streamRequest(url).onHTTPResponse(on: track.root) { _ in track.note("head") }
        .responseStream(on: track.root) { if $0.value != nil { track.note("piece") } }
        .responseStream(on: track.queue) { if $0.completion != nil { track.noteEnd() } }
    }
  }

  @Test(
    "progress handlers on the root queue run before the response handler, whatever the response handler's queue",
    arguments: Kind.allCases, Place.allCases)
  func progress(kind: Kind, place: Place) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        try await withFolder { folder in
          for _ in 0..<repetitions(of: 20) {
            let track = Track(session, place)
            request(kind, to: origin.url, in: session, folder, endingOn: track)
              .uploadProgress(queue: track.root) { track.note("sent \($0.fractionCompleted)") }
              .downloadProgress(queue: track.root) { track.note("received \($0.fractionCompleted)") }
              .resume()
            let entries = await track.entries()
            #expect(entries.last == "end" && entries.filter { $0 == "end" }.count == 1, "\(entries)")
            #expect(entries.last { $0.hasPrefix("received") } == "received 1.0")
            if kind == .upload || kind == .multipartFile {
              #expect(entries.last { $0.hasPrefix("sent") } == "sent 1.0")
            }
            for file in names(in: folder) { try FileManager.default.removeItem(at: folder.appending(path: file)) }
          }
        }
      }
    }
  }

  @Test("a request's handlers on the root queue are called before monitors are notified that the request has finished")
  func monitoredEnd() async throws {
    try await withSession(startRequestsImmediately: false) { session in
      let track = Track(session, .other)
      let monitor = ClosureEventMonitor(queue: track.queue)
      monitor.requestDidFinish = { _ in track.log.note("finished") }
      session.request("").eventMonitor(monitor)
        .cURLDescription(on: track.root) { _ in track.note("curl") }
        .response(queue: track.queue) { _ in track.noteEnd() }
        .resume()
      #expect(await track.entries() == ["curl", "finished", "end"])
    }
  }

  @Test(
    "the curl command of a request that can't be created or adapted is delivered before the response",
    arguments: Place.allCases)
  func failedBuilds(place: Place) async throws {
    try await withSession(startRequestsImmediately: false) { session in
      let unwilling = Adapter { _, _, completion in completion(.failure(Mishap("unwilling"))) }
      for request in [session.request(""), session.request("http://127.0.0.1:1", interceptor: unwilling)] {
        let track = Track(session, place)
        request.cURLDescription(on: track.root) { _ in track.note("curl") }
          .response(queue: track.queue) { _ in track.noteEnd() }
          .resume()
        #expect(await track.entries() == ["curl", "end"])
      }
    }
  }

  @Test("handlers that a validation closure adds run before the response handler", arguments: Place.allCases)
  func lateHandlers(place: Place) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        let additions: [@Sendable (DataRequest, Track) -> Void] = [
          { request, track in request.onURLRequestCreation(on: track.root) { _ in track.note("late") } },
          { request, track in request.onURLSessionTaskCreation(on: track.root) { _ in track.note("late") } },
          { request, track in request.cURLDescription { _ in track.note("late") } },
          { request, track in request.cURLDescription(on: track.root) { _ in track.note("late") } },
        ]
        for addition in additions {
          let track = Track(session, place)
          let request = session.request(origin.url)
          request.validate { [unowned request] _, _, _ in
            addition(request, track)
            return .success(())
          }
          .response(queue: track.queue) { _ in track.noteEnd() }
          .resume()
          #expect(await track.entries() == ["late", "end"])
        }
      }
    }
  }

  @Test("cancelling a download without a task calls the closure for resume data before the response handler")
  func resumeData() async throws {
    try await withSession(startRequestsImmediately: false) { session in
      let track = Track(session, .root)
      let request = session.download("http://127.0.0.1:1").response(queue: track.queue) { _ in track.noteEnd() }
      // The request is resumed and cancelled before the root queue runs its first step.
      track.root.suspend()
      request.resume().cancel(byProducingResumeData: { _ in track.note("resume data") })
      track.root.resume()
      #expect(await track.entries() == ["resume data", "end"])
    }
  }

  /// The queues of the event monitor and the response handler: the root queue, another queue, or the same as the monitor's.
  enum Pair: CaseIterable, Sendable { case rootAndRoot, rootAndOther, otherAndSame }

  @Test(
    "a monitor on the root queue or the response handler's queue receives all events before the handler runs",
    arguments: Pair.allCases, [false, true])
  func monitors(pair: Pair, isOfSession: Bool) async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let (root, other) = (DispatchQueue(label: "root"), DispatchQueue(label: "other"))
      let (log, hasEnded) = (Log<String>(), Gate())
      let monitor = ClosureEventMonitor(queue: pair == .otherAndSame ? other : root)
      let note: @Sendable (String) -> Void = { entry in
        // If the response handler is already queued, it runs first, so that the log shows a wrong order.
        if pair == .rootAndOther { other.sync {} }
        log.note(entry)
      }
      monitor.requestDidResume = { _ in note("resumed") }
      monitor.requestDidCompleteTaskWithError = { _, _, _ in note("completed") }
      monitor.requestDidFinish = { _ in note("finished") }
      monitor.requestDidParseResponse = { _, _ in note("parsed") }
      let delegate = SessionDelegate()
      let session = Session(
        session: URLSession(
          configuration: .forTests, delegate: delegate, delegateQueue: OperationQueue(serial: root)),
        delegate: delegate, rootQueue: root, startRequestsImmediately: false,
        eventMonitors: isOfSession ? [monitor] : [])
      try await keeping(session) { session in
        let request = session.request(origin.url)
        if !isOfSession { request.eventMonitor(monitor) }
        request.response(queue: pair == .rootAndRoot ? root : other) { _ in
          log.note("end")
          hasEnded.open()
        }
        .resume()
        await hasEnded.wait()
        await root.drain()
        await other.drain()
        #expect(log.entries == ["resumed", "completed", "finished", "parsed", "end"])
      }
    }
  }

  @Test("a stream handler receives the completion only after work that was already enqueued on the handler's queue")
  func streamEnd() async throws {
    try await withSession(startRequestsImmediately: false) { session in
      let request = session.streamRequest("http://127.0.0.1:1")
      let (queue, log) = (DispatchQueue(label: "pieces"), Log<String>())
      let (isHandling, mayReturn) = (Gate(), Gate())
      let handler = StreamHandler<Data, Never>(
        request, on: queue, isSerialized: false, aligner: nil, serialize: { .success($0) }
      ) { stream, _ in
        guard stream.completion == nil else { return _ = log.note("end") }
        isHandling.open()
        mayReturn.waitBlocking()
        log.note("piece")
      }
      let task = session.session.dataTask(with: try URLRequest(url: "http://127.0.0.1:1", method: .get))
      handler.take(StreamPiece(Data("piece".utf8), of: task))
      await isHandling.wait()
      queue.async { log.note("queued") }
      handler.complete(DataStreamRequest.Completion(request: nil, response: nil, metrics: nil, error: nil))
      mayReturn.open()
      await queue.drain()
      #expect(log.entries == ["piece", "queued", "end"])
    }
  }
}
