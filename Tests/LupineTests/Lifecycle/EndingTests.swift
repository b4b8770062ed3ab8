// Requests that are ended from outside in each stage: every handler is called once, and nothing is retained.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct EndingTests {
  /// The stage of a request's life cycle in which the test cancels the request or ends its session.
  enum Stage: CaseIterable, Sendable {
    case unbuilt, building, adapting, sending, deciding, redirecting, challenging, storing, validating, retrying,
      waiting
    case serializing, reconsidering, finished
  }

  enum End: CaseIterable, Sendable { case cancel, release, invalidate }

  /// The responses that the request's three response handlers receive, in order.
  typealias Outcomes = [AFDataResponse<Int>]

  @Test(
    "if a request is cancelled or its session ends at any stage, each response handler is called once, and nothing leaks",
    arguments: Stage.allCases,
    End.allCases)
  func end(stage: Stage, end: End) async throws {
    try await withServer { request in
      switch (stage, request.path) {
      case (.sending, _): .hold
      case (.redirecting, "/"): Reply(status: 302, fields: ["Location": "/there"])
      case (.challenging, _): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      case (.retrying, _), (.waiting, _): .text("broken", status: 500)
      default: .text("here")
      }
    } _: { origin in
      let held = HeldRequest(stage)
      let outcomes = try await held.run(origin.url, end: end)
      #expect(outcomes.count == 3)
      for (index, outcome) in outcomes.enumerated() {
        expect(outcome, of: index, at: stage, after: end)
      }
    }
  }

  private func expect(_ outcome: AFDataResponse<Int>, of index: Int, at stage: Stage, after end: End) {
    let words = "handler \(index): \(outcome.result)"
    switch (stage, end) {
    case (.finished, _), (.validating, .release), (.validating, .invalidate), (.serializing, .release),
      (.serializing, .invalidate):
      #expect(outcome.value == 4, "\(words)")
    // The first serializer started before the cancellation.
    case (.serializing, .cancel) where index == 0:
      #expect(outcome.value == 4, "\(words)")
    case (.reconsidering, _) where index == 0:
      #expect(outcome.error?.isResponseSerializationError == true, "\(words)")
    case (.reconsidering, .release), (.reconsidering, .invalidate):
      #expect(outcome.value == 4, "\(words)")
    // A cancellation doesn't replace an earlier error.
    case (.retrying, .cancel), (.waiting, .cancel):
      #expect(outcome.error?.responseCode == 500, "\(words)")
    case (_, .cancel): #expect(outcome.error?.isExplicitlyCancelledError == true, "\(words)")
    case (_, .release): #expect(outcome.error?.isSessionDeinitializedError == true, "\(words)")
    case (_, .invalidate): #expect(outcome.error?.isSessionInvalidatedError == true, "\(words)")
    }
  }

  // MARK: While the body arrives

  enum Kind: CaseIterable, Sendable { case data, download, stream }

  @Test("a request that is suspended and cancelled while its body arrives isn't validated", arguments: Kind.allCases)
  func unvalidated(kind: Kind) async throws {
    try await withScripts([Self.stopInBody]) { origin, _ in
      try await withSession(startRequestsImmediately: false) { session in
        let (statuses, hasBegun, errors) = (Log<Int>(), Gate(), Recorder<AFError?>())
        let request = validated(kind, origin.url, in: session) {
          statuses.note($0.statusCode)
        } end: {
          errors.record($0)
        }
        request.downloadProgress(queue: session.rootQueue) { _ in hasBegun.open() }.resume()
        await hasBegun.wait()
        request.suspend().cancel()
        let error = await errors.next() ?? nil
        #expect(error?.isExplicitlyCancelledError == true && statuses.entries.isEmpty)
      }
    }
  }

  @Test("if the task of a request is cancelled directly, the request isn't cancelled, and can be retried")
  func cancelledTask() async throws {
    try await withScripts([Self.stopInBody, { try $1.respond(body: Array("here".utf8)) }]) { origin, _ in
      try await withSession(startRequestsImmediately: false) { session in
        let (hasBegun, retrier) = (Gate(), ScriptedRetrier([.retry]))
        let request = session.request(origin.url, interceptor: retrier)
        request.downloadProgress(queue: session.rootQueue) { _ in hasBegun.open() }.resume()
        await hasBegun.wait()
        request.task?.cancel()
        #expect(await request.serializingString().response.value == "here")
        #expect(request.retryCount == 1 && !request.isCancelled)
        let codes = retrier.errors.entries.map { ($0?.underlyingError as? URLError)?.code }
        #expect(codes == [.cancelled])
      }
    }
  }

  /// Sends a response head and a part of the body, and waits until the client closes the connection.
  private static let stopInBody: @Sendable (ReceivedRequest, Peer) throws -> Void = { _, peer in
    try peer.beginChunked(status: 404)
    try peer.chunk("part")
    _ = try peer.awaitClose()
  }

  /// Returns a request of the kind that calls `validate` with the response if it is validated, and `end` with its error.
  private func validated(
    _ kind: Kind, _ url: String, in session: Session, validate: @escaping @Sendable (HTTPURLResponse) -> Void,
    end: @escaping @Sendable (AFError?) -> Void
  ) -> Request {
    let queue = session.rootQueue
    let accept: @Sendable (HTTPURLResponse) -> Request.ValidationResult = { response in
      validate(response)
      return .success(())
    }
    switch kind {
    case .data:
      return session.request(url).validate { _, response, _ in accept(response) }.validate()
        .response(queue: queue) { end($0.error) }
    case .download:
      return session.download(url).validate { _, response, _ in accept(response) }.validate()
        .response(queue: queue) { end($0.error) }
    case .stream:
      return session.streamRequest(url).validate { _, response in accept(response) }.validate()
        .responseStream(on: queue) { if let completion = $0.completion { end(completion.error) } }
    }
  }
}

/// A session with a request that stops in the given stage until the test ends the request or the session.
private final class HeldRequest: Sendable {
  typealias Stage = EndingTests.Stage

  let stage: Stage
  let blockade = Blockade()
  let adapting = Held<Result<URLRequest, any Error>>()
  let deciding = Held<Request.ResponseDisposition>()
  let redirecting = Held<URLRequest?>()
  let challenging = Held<(URLSession.AuthChallengeDisposition, URLCredential?)>()
  let storing = Held<CachedURLResponse?>()
  let retrying = Held<RetryResult>()
  let responses = Log<AFDataResponse<Int>>()
  let allCame = Gate()

  init(_ stage: Stage) { self.stage = stage }

  func run(_ url: String, end: EndingTests.End) async throws -> EndingTests.Outcomes {
    var session: Session? = makeSession()
    var urlSession = session?.session
    let root = try #require(session?.rootQueue)
    let weakSession = WeakReference(session)
    var request: DataRequest? = makeRequest(url, in: try #require(session))
    let weakRequest = WeakReference(request)
    if stage != .unbuilt { await reach(try #require(request)) }

    switch end {
    case .cancel: request?.cancel()
    case .release: session = nil
    case .invalidate: urlSession?.invalidateAndCancel()
    }
    if stage == .unbuilt { request?.resume() }
    blockade.open()
    await allCame.wait()

    let (isCancelled, isFinished) = (request?.isCancelled == true, request?.isFinished == true)
    #expect(end == .cancel && stage != .finished ? isCancelled : isFinished)
    // After the request's end, the late completions of adapters, retriers and handlers have no effect.
    answerAll()
    await root.drain()
    if let session { #expect(await session.running.isEmpty) }
    #expect(await urlSession?.allTasks.isEmpty == true)
    #expect(request?.tasks.allSatisfy { $0.state == .completed && $0.owner == nil } == true)
    #expect(request?.allMetrics.count == request?.tasks.count)
    let weakTasks = request?.tasks.map { WeakReference($0) } ?? []
    let weakURLSession = WeakReference(urlSession)
    request = nil
    #expect(await settles { weakRequest.object == nil }, "the request is still retained")
    session = nil
    #expect(await settles { weakSession.object == nil }, "the session is still retained")
    urlSession = nil
    #expect(await settles { weakURLSession.object == nil && weakTasks.allSatisfy { $0.object == nil } })
    return responses.entries
  }

  private func makeSession() -> Session {
    // In one stage, a serializer blocks its queue. So each session has a dedicated serialization queue.
    Session(
      configuration: .forTests, delegate: stage == .challenging ? Challenged(challenging) : SessionDelegate(),
      startRequestsImmediately: false, serializationQueue: DispatchQueue(label: "serialization"))
  }

  private func makeRequest(_ url: String, in session: Session) -> DataRequest {
    var convertible = Convertible(url: url)
    if stage == .building { convertible.onMaking = { [blockade] in blockade.block() } }
    let request = session.request(convertible)
    switch stage {
    case .adapting: request.adapt(using: Adapter { [adapting] _, _, completion in adapting.hold(completion) })
    case .deciding: request.onHTTPResponse(on: .global()) { [deciding] _, answer in deciding.hold(answer) }
    case .redirecting:
      request.redirect(using: RedirectClosure { [redirecting] _, _, answer in redirecting.hold(answer) })
    case .storing: request.cacheResponse(using: HeldStorage(held: storing))
    case .validating:
      request.validate { [blockade] _, _, _ in
        blockade.block()
        return .success(())
      }
    case .retrying, .reconsidering:
      request.validate().retry(using: Retrier { [retrying] _, _, _, completion in retrying.hold(completion) })
    case .waiting:
      request.validate().retry(
        using: Retrier { [blockade] _, _, _, completion in
          completion(.retryWithDelay(1000))
          blockade.isReached.open()
        })
    case .unbuilt, .building, .sending, .challenging, .serializing, .finished: break
    }
    // The queue is serial, so the responses are noted in the order of the handlers.
    let queue = DispatchQueue(label: "responses")
    for index in 0..<3 {
      request.response(queue: queue, responseSerializer: serializer(index)) { [responses, allCame] response in
        if responses.note(response) == 3 { allCame.open() }
      }
    }
    return request
  }

  private func serializer(_ index: Int) -> Serializer<Int> {
    Serializer { [stage, blockade] data, error in
      if let error { throw error }
      if stage == .serializing, index == 0 { blockade.block() }
      if stage == .reconsidering, index == 0 { throw Mishap("serializer") }
      return data?.count ?? 0
    }
  }

  /// Resumes the request, and waits until the request has reached the stage.
  private func reach(_ request: DataRequest) async {
    request.resume()
    switch stage {
    case .unbuilt: break
    case .building, .validating, .serializing: await blockade.isReached.wait()
    case .waiting:
      await blockade.isReached.wait()
      await request.underlyingQueue.drain()
    case .adapting: await adapting.isAsked.wait()
    case .sending: _ = await settles { request.task?.countOfBytesSent == 0 && request.task?.state == .running }
    case .deciding: await deciding.isAsked.wait()
    case .redirecting: await redirecting.isAsked.wait()
    case .challenging: await challenging.isAsked.wait()
    case .storing: await storing.isAsked.wait()
    case .retrying, .reconsidering: await retrying.isAsked.wait()
    case .finished: await allCame.wait()
    }
  }

  private func answerAll() {
    adapting.answer(.success(URLRequest(url: URL(filePath: "/late"))))
    deciding.answer(.allow)
    redirecting.answer(URLRequest(url: URL(filePath: "/late")))
    challenging.answer((.useCredential, URLCredential(user: "u", password: "p", persistence: .none)))
    storing.answer(nil)
    retrying.answer(.retry)
  }
}

/// Blocks threads until the test releases them.
private final class Blockade: Sendable {
  let isReached = Gate()
  private let gate = Gate()

  func block() {
    isReached.open()
    gate.waitBlocking()
  }

  func open() { gate.open() }
}

private struct HeldStorage: CachedResponseHandler {
  let held: Held<CachedURLResponse?>

  func dataTask(
    _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
    completion: @escaping @Sendable (CachedURLResponse?) -> Void
  ) { held.hold(completion) }
}

// Unchecked because the superclass is unchecked. The state that this class adds is constant.
private final class Challenged: SessionDelegate, @unchecked Sendable {
  let held: Held<(URLSession.AuthChallengeDisposition, URLCredential?)>

  init(_ held: Held<(URLSession.AuthChallengeDisposition, URLCredential?)>) {
    self.held = held
    super.init()
  }

  override func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) { held.hold { completionHandler($0.0, $0.1) } }
}
