// Background tasks without a network, and those whose proxy refuses the connection.

import Foundation
import LupineOrigin
import LupineTestSupport
import LupineTransferStore
import Testing

@testable import LupineEngine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct BackgroundNetworkTests {
  private let folder = SessionFolder()
  private let recorder = EventRecorder()
  private let network = TestNetwork(TestNetwork.offline)
  private let resolver = SwitchedResolver()

  /// Returns a background session on the test's network. Its retry delay is an hour, so a task continues only if the network
  /// changes.
  private func makeSession(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
    folder.session(recorder) {
      $0.pathWaiters = PathWaiters(source: network.source)
      $0.engine.resolver.resolver = resolver
      $0.lupineBackground.retryDelayMin = .seconds(3_600)
      $0.lupineBackground.retryDelayMax = .seconds(3_600)
      configure($0)
    }
  }

  private func request(_ origin: OriginServer, _ host: String = "name.example") throws -> URLRequest {
    URLRequest(url: try #require(URL(string: "http://\(host):\(origin.port)/r")))
  }

  @Test(
    "without a network, background tasks wait until there is a network, and their delegate isn't notified of the wait")
  func waiting() async throws {
    try await withServer { request in
      .text(request.method)
    } _: { origin in
      let session = makeSession()
      defer { session.invalidateAndCancel() }
      // The tasks use two hosts, because the session caches the first host's address.
      var upload = try request(origin, "upload.example")
      upload.httpMethod = "PUT"
      let file = folder.directory.appending(path: "upload")
      try Data([1, 2, 3]).write(to: file)
      let tasks: [URLSessionTask] = [
        session.downloadTask(with: try request(origin)), session.uploadTask(with: upload, fromFile: file),
      ]
      for (index, task) in tasks.enumerated() {
        resolver.set(isUp: false)
        network.change(to: TestNetwork.offline)
        task.resume()
        #expect(await settles { network.watcherCount == 1 })
        resolver.set(isUp: true)
        network.change(to: TestNetwork.online)
        #expect(await settles { recorder.events.completions.count == index + 1 && network.watcherCount == 0 })
      }
      #expect(recorder.events.completions.allSatisfy { $0.error == nil && $0.status == 200 })
      #expect(recorder.events.files == [Array("GET".utf8)] && recorder.events.data == Data("PUT".utf8))
      #expect(recorder.events.waitingCount == 0)
      #expect(await settles { folder.names.isEmpty })
    }
  }

  @Test("a background task restored from an earlier process waits for a network")
  func restored() async throws {
    try await withServer { _ in
      .text("content")
    } _: { origin in
      var description = TransferDescription.download(origin)
      description.url = "http://name.example:\(origin.port)/r"
      try folder.leave(
        description, TransferProgress(stage: .running, startedAt: Int64(Date().timeIntervalSince1970 * 1000)))
      let session = makeSession()
      defer { session.invalidateAndCancel() }
      #expect(await settles { network.watcherCount == 1 })
      resolver.set(isUp: true)
      network.change(to: TestNetwork.online)
      #expect(await settles { recorder.events.files == [Array("content".utf8)] && folder.names.isEmpty })
    }
  }

  @Test("a background task's time without a network counts toward timeoutIntervalForResource")
  func timeLimit() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      let session = makeSession { $0.timeoutIntervalForResource = 0.3 }
      defer { session.invalidateAndCancel() }
      session.downloadTask(with: try request(origin)).resume()
      #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
      let error = recorder.events.completions.first?.error
      #expect(error?.code == .timedOut && error?.localizedDescription.contains("timeoutIntervalForResource") == true)
      #expect(await settles { network.watcherCount == 0 })
    }
  }

  @Test(
    "cancelling a background task that waits for a network removes the task's record and stops watching the network")
  func cancellation() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      let session = makeSession()
      defer { session.invalidateAndCancel() }
      let task = session.downloadTask(with: try request(origin))
      task.resume()
      #expect(await settles { network.watcherCount == 1 })
      task.cancel()
      #expect(await settles { folder.names.isEmpty && network.watcherCount == 0 })
      #expect(recorder.events.completions.map(\.error?.code) == [.cancelled])
    }
  }

  @Test("a background session sends a request again if the proxy responds to CONNECT with 503, but not with 403 or 407")
  func proxies() async throws {
    let refusals = ["403 Forbidden", "407 Proxy Authentication Required", "503 Service Unavailable"]
    for (index, status) in refusals.enumerated() {
      let (folder, recorder) = (SessionFolder(), EventRecorder())
      let proxy = try OriginServer { peer in
        guard try peer.readHead() != nil else { return }
        // After a failure, the proxy refuses the second attempt.
        let answer = peer.connectionIndex == 0 ? status : refusals[0]
        try peer.send(
          "HTTP/1.1 \(answer)\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n"
            + "Connection: close\r\n\r\n")
        peer.close()
      }
      defer { proxy.stop() }
      let settings = ProxySettings.fixed(try Proxy(.http, host: "127.0.0.1", port: proxy.port))
      let session = folder.session(recorder) { $0.engine.proxy = settings }
      defer { session.invalidateAndCancel() }
      session.downloadTask(with: URLRequest(url: try #require(URL(string: "https://127.0.0.1:9/")))).resume()
      #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
      #expect(recorder.events.completions.first?.error?.code == .cannotConnectToHost, "\(status)")
      #expect(proxy.requestCount == (index == 2 ? 2 : 1), "\(status)")
    }
  }

  @Test("a background task tries again if the process lacked resources, or if too many requests waited")
  func lackOfResources() {
    let origin = Origin(scheme: .https, host: "a.test", port: 443)
    let codes: [(EngineError.Code, Bool)] = [(.outOfResources, true), (.tooManyWaiting, true), (.bodyTooLarge, false)]
    for (code, isTransient) in codes {
      let error = URLError(EngineError(code, .poolWait, origin, cause: .maximum(1)), url: nil)
      #expect(BackgroundRetryRule.isTransient(error) == isTransient, "\(code)")
    }
    // The engine can't be started, or the cache policy forbids the request.
    #expect(!BackgroundRetryRule.isTransient(URLError(.cannotLoadFromNetwork)))
  }

  @Test(
    "a background task treats a proxy's refusal and wrong settings as permanent, and other proxy failures as transient")
  func proxyErrors() {
    func isTransient(_ cause: ProxyError.Cause) -> Bool {
      let error = EngineError(
        .proxyFailed, .proxy, Origin(scheme: .https, host: "a.test", port: 443),
        cause: .proxy(ProxyError(cause, "the proxy")))
      let converted = URLError(error, url: nil)
      #expect(converted.code == .cannotConnectToHost)
      return BackgroundRetryRule.isTransient(converted)
    }
    let transient: [ProxyError.Cause] = [
      .truncated(received: 3), .refused(status: 408), .refused(status: 429), .refused(status: 500),
      .refused(status: 504), .refusedBySOCKS4(91), .refusedBySOCKS(.generalFailure), .refusedBySOCKS(.hostUnreachable),
      .refusedBySOCKS(.networkUnreachable), .refusedBySOCKS(.connectionRefused), .refusedBySOCKS(.timeToLiveExpired),
    ]
    for cause in transient { #expect(isTransient(cause), "\(cause)") }
    let permanent: [ProxyError.Cause] = [
      .malformedPort, .unsupportedScheme("a"), .credentialsRequired(schemes: ["Basic"], hadCredentials: true),
      .refused(status: 403), .refused(status: 302), .refusedBySOCKS4(92), .refusedBySOCKS4(93),
      .refusedBySOCKS(.notAllowed), .refusedBySOCKS(.commandNotSupported), .credentialsRefused(status: 1),
      .noAcceptableMethod(hasCredentials: false), .identityUnproven, .notSOCKS5(version: 72),
    ]
    for cause in permanent { #expect(!isTransient(cause), "\(cause)") }
  }
}
