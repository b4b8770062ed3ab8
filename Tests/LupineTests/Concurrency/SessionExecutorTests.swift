// SessionExecutorTests: tasks on a session's loop.

import Foundation
import Glibc
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SessionExecutorTests {
  @Test("a task on the session's executor continues on the event loop's thread after each request that it awaits")
  func thread() async throws {
    try await withOrigin { peer in
      while try peer.readRequest() != nil { try peer.respond(body: Array("x".utf8)) }
    } _: { origin in
      try await withSession { session in
        let threads = try await withTaskExecutorPreference(session.executor) { [url = origin.url] in
          var threads: Set<UInt> = [Self.currentThread()]
          for _ in 0..<10 {
            let body = try await session.request(url).serializingString().value
            #expect(body == "x")
            threads.insert(Self.currentThread())
          }
          return threads
        }
        #expect(threads.count == 1)
        #expect(threads.first != Self.currentThread())
      }
    }
  }

  @Test("the session's executor runs tasks even if the event loop busy-polls before it sleeps")
  func polling() async throws {
    try await withOrigin { peer in
      while try peer.readRequest() != nil { try peer.respond(body: Array("x".utf8)) }
    } _: { origin in
      let configuration = URLSessionConfiguration.af.default
      configuration.engine.busyPoll = .milliseconds(5)
      let session = Session(configuration: configuration)
      let url: String = origin.url
      let bodies = try await Self.bodies(20, of: url, session)
      let bodiesOnLoop = try await withTaskExecutorPreference(session.executor) {
        try await Self.bodies(20, of: url, session)
      }
      #expect(bodies + bodiesOnLoop == Array(repeating: "x", count: 40))
    }
  }

  private static func bodies(_ count: Int, of url: String, _ session: Session) async throws -> [String] {
    var bodies: [String] = []
    for _ in 0..<count { bodies.append(try await session.request(url).serializingString().value) }
    return bodies
  }

  private static func currentThread() -> UInt { UInt(pthread_self()) }
}
