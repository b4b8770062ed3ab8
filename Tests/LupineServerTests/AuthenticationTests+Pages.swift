// AuthenticationTests+Pages: each page and proxy that requires a credential, with the right one and with others.

import Foundation
import LupineTestSupport
import LupineURLSession
import Testing

extension AuthenticationTests {
  @Test(
    "eight concurrent requests with a correct credential for a proxy succeed, including uploads in each form",
    arguments: GuardedPage.proxies)
  func accepted(page: GuardedPage) async throws { try await page.expectAcceptance() }

  @Test(
    "eight concurrent requests with a proxy's wrong or unprivileged credential get a 407, or an error for a tunnel",
    arguments: GuardedPage.proxies + GuardedPage.forbiddenProxies)
  func refused(page: GuardedPage) async throws { try await page.expectRefusals() }
}

/// Runs at the same time as the tests with squid: these servers verify the password of each request.
@Suite("Authentication with real origins", .serialized, .timeLimit(.minutes(10)))
struct OriginAuthenticationTests {
  @Test(
    "eight concurrent requests with a correct credential succeed, including uploads from memory, a file and a stream",
    arguments: GuardedPage.origins)
  func accepted(page: GuardedPage) async throws { try await page.expectAcceptance() }

  @Test(
    "eight concurrent requests with a wrong or unprivileged credential get a 401",
    arguments: GuardedPage.origins.filter { !$0.delaysRefusals } + GuardedPage.forbiddenOrigins)
  func refused(page: GuardedPage) async throws { try await page.expectRefusals() }
}

/// The pages are requested at the same time, because the tests only wait: one after another, they took two thirds of the time of all
/// tests with real origins.
@Suite("Delayed refusals of real origins", .timeLimit(.minutes(10)))
struct DelayedRefusalTests {
  @Test(
    "eight concurrent requests with a wrong credential get a 401 from lighttpd, which delays each by a second",
    arguments: GuardedPage.origins.filter(\.delaysRefusals))
  func refused(page: GuardedPage) async throws { try await page.expectRefusals() }
}

extension GuardedPage {
  /// Sends rounds of eight concurrent requests with the correct credential.
  fileprivate func expectAcceptance() async throws {
    let (session, right) = (try makeSession(), try #require(self.right))
    defer { session.invalidateAndCancel() }
    for round in 0..<repetitions(of: 4) {
      let uploads = try Uploads(for: self, round: round)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<8 {
          let (content, byteCount) = index < uploads.bodies.count ? uploads.bodies[index] : (.empty, 0)
          group.addTask {
            let (status, text) = try await send(content, as: right, through: session)
            #expect(status == 200, "request \(index) of round \(round)")
            #expect(text.contains(" \(byteCount) "), "request \(index) of round \(round)")
          }
        }
        try await group.waitForAll()
      }
      withExtendedLifetime(uploads) {}
    }
  }

  /// Sends rounds of eight concurrent requests with each wrong credential.
  fileprivate func expectRefusals() async throws {
    let session = try makeSession()
    defer { session.invalidateAndCancel() }
    for round in 0..<repetitions(of: 2) {
      let uploads = try Uploads(for: self, round: round)
      let empty = [GuardedPage.Content](repeating: .empty, count: 8 - uploads.bodies.count)
      let contents = uploads.bodies.map(\.content) + empty
      for credential in wrong {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for content in contents {
            group.addTask { try await expectRefusal(of: content, as: credential, through: session) }
          }
          try await group.waitForAll()
        }
      }
      withExtendedLifetime(uploads) {}
    }
  }

  private func expectRefusal(
    of content: GuardedPage.Content, as credential: URLCredential, through session: URLSession
  ) async throws {
    guard isTunneled else {
      let status = try await send(content, as: credential, through: session).status
      #expect(status == refusal)
      return
    }
    let error = await #expect(throws: URLError.self) { try await send(content, as: credential, through: session) }
    #expect(error?.code == .cannotConnectToHost && error?.localizedDescription.contains("407") == true)
  }
}

/// Request bodies in each form in which a session can upload them: data, a file and a stream. Deallocation deletes the file.
private struct Uploads {
  /// The bodies with their lengths in bytes.
  let bodies: [(content: GuardedPage.Content, byteCount: Int)]
  private let file: TemporaryFile

  /// Creates bodies of 1 kB, or in each tenth round two of 1 kB and a long one. Which form is long differs between consecutive
  /// pages, because three long uploads to each page would take minutes; LUPINE_TESTS_REPEAT tries all of them. With sanitizers,
  /// the long body has a tenth of its length.
  init(for page: GuardedPage, round: Int) throws {
    let long = round % 10 == 0 ? (page.number + round / 10) % 3 : nil
    let bytes = (0..<3).map { form in
      Data(repeating: 7, count: form == long ? page.uploadByteCount / testsDivisor : 1_000)
    }
    file = try TemporaryFile([UInt8](bytes[1]))
    let contents: [GuardedPage.Content] = [
      .memory(bytes[0]), .file(URL(fileURLWithPath: file.path)), .stream(bytes[2]),
    ]
    bodies = zip(contents, bytes).map { ($0, $1.count) }
  }
}
