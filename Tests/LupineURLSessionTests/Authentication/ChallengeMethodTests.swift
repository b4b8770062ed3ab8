// ChallengeMethodTests: which of a delegate's two methods for challenges receives a challenge. A URLProtocol sends the challenges.

import Foundation
import LupineTestSupport
import Testing

@testable import LupineURLSession

private typealias Completion = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// Answers a challenge with the name of the method that has received it.
private func use(_ name: String, _ completionHandler: Completion) {
  completionHandler(.useCredential, URLCredential(user: name, password: "p", persistence: .none))
}

@Suite(.timeLimit(.minutes(10))) struct ChallengeMethodTests {
  /// A delegate that has no methods for tasks.
  private final class OfSession: NSObject, URLSessionDelegate {
    let methods = Notes()

    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping Completion
    ) {
      methods.add(challenge.protectionSpace.authenticationMethod)
      use("session", completionHandler)
    }
  }

  private final class OfTask: NSObject, URLSessionTaskDelegate {
    private let name: String

    init(_ name: String = "task") { self.name = name }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping Completion
    ) { use(name, completionHandler) }
  }

  private final class Both: NSObject, URLSessionTaskDelegate {
    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping Completion
    ) { use("session", completionHandler) }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping Completion
    ) { use("task", completionHandler) }
  }

  private final class AsyncBoth: NSObject, URLSessionTaskDelegate {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> Answer {
      (.useCredential, URLCredential(user: "session", password: "p", persistence: .none))
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> Answer {
      (.useCredential, URLCredential(user: "task", password: "p", persistence: .none))
    }
  }

  private final class Neither: NSObject, URLSessionTaskDelegate {}

  private static let methodsOfConnections = [
    NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
  ]

  private static let delegates: [(any URLSessionDelegate, connection: String, password: String)] = [
    (Both(), "used session", "used task"), (AsyncBoth(), "used session", "used task"),
    (OfSession(), "used session", "default"), (OfTask(), "used task", "used task"), (Neither(), "default", "default"),
  ]

  private func url(_ method: String) throws -> URL { try #require(URL(string: "http://guarded.example/?\(method)")) }

  @Test(
    "a connection's challenge goes to the session's method, or else to the task's, and one for a password only to the task's"
  )
  func order() async throws {
    for (delegate, connection, password) in Self.delegates {
      try await withSession(delegate: delegate) {
        $0.protocolClasses = [Guarded.self]
      } _: { session in
        // The first call shows which methods the delegate has.
        for method in Self.methodsOfConnections + [NSURLAuthenticationMethodHTTPDigest] {
          let isOfConnection = method != NSURLAuthenticationMethodHTTPDigest
          let url = try url(method)
          for own in [nil, Neither()] {
            let (data, _) = try await session.data(for: URLRequest(url: url), delegate: own)
            let answer = String(decoding: data, as: UTF8.self)
            #expect(answer == (isOfConnection ? connection : password), "\(delegate) \(method)")
          }
          // A task's own delegate comes first.
          let (data, _) = try await session.data(for: URLRequest(url: url), delegate: OfTask("own"))
          #expect(String(decoding: data, as: UTF8.self) == "used own", "\(delegate) \(method)")
        }
      }
    }
  }

  /// A delegate whose class no other test uses, so that only the first challenge shows that it lacks the session's method.
  private final class OnQueue: NSObject, URLSessionTaskDelegate {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping Completion
    ) { use(OperationQueue.current === session.delegateQueue ? "on the queue" : "elsewhere", completionHandler) }
  }

  @Test("the task's method gets a connection's challenge on the delegate queue, even the session's first challenge")
  func queue() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [Guarded.self]
    let session = URLSession(configuration: configuration, delegate: OnQueue(), delegateQueue: queue)
    defer { session.invalidateAndCancel() }
    let url = try url(NSURLAuthenticationMethodNTLM)
    for _ in 0..<2 {
      let (data, _) = try await session.data(from: url)
      #expect(String(decoding: data, as: UTF8.self) == "used on the queue")
    }
  }

  @Test("a delegate without methods for tasks gets the challenges of connections also for a task without a handler")
  func withoutHandler() async throws {
    let delegate = OfSession()
    try await withSession(delegate: delegate) {
      $0.protocolClasses = [Guarded.self]
    } _: { session in
      let methods = Self.methodsOfConnections + [NSURLAuthenticationMethodHTTPBasic]
      for method in methods {
        let task = session.dataTask(with: try url(method))
        task.resume()
        #expect(await settles { task.state == .completed })
      }
      #expect(delegate.methods.all == Self.methodsOfConnections)
    }
  }
}
