// AuthenticationTests+Pages: each page and proxy that requires a credential, with the right one and with others.

import Foundation
import LupineTestSupport
import LupineURLSession
import Testing

extension AuthenticationTests {
  /// A request body in each form in which a session can upload it: data, a file and a stream. Deallocation deletes the file.
  private struct Upload {
    let byteCount: Int
    let contents: [GuardedPage.Content]
    private let file: TemporaryFile

    /// Creates a body of `byteCount` bytes in each form. With sanitizers, the body has a tenth of that.
    init(byteCount: Int) throws {
      let byteCount = byteCount / testsDivisor
      let body = Data(repeating: 7, count: byteCount)
      self.byteCount = byteCount
      file = try TemporaryFile([UInt8](body))
      contents = [.memory(body), .file(URL(fileURLWithPath: file.path)), .stream(body)]
    }
  }

  @Test(
    "eight concurrent requests with a correct credential succeed, including uploads from memory, a file and a stream",
    arguments: GuardedPage.all)
  func accepted(page: GuardedPage) async throws {
    let (session, right) = (try page.makeSession(), try #require(page.right))
    defer { session.invalidateAndCancel() }
    let (long, short) = (try Upload(byteCount: page.uploadByteCount), try Upload(byteCount: 1_000))
    for round in 0..<repetitions(of: 4) {
      // Long uploads in every round would take minutes.
      let upload = round % 10 == 0 ? long : short
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<8 {
          let isUpload = index < upload.contents.count
          let content = isUpload ? upload.contents[index] : .empty
          let byteCount = isUpload ? upload.byteCount : 0
          group.addTask {
            let (status, text) = try await page.send(content, as: right, through: session)
            #expect(status == 200, "request \(index) of round \(round)")
            #expect(text.contains(" \(byteCount) "), "request \(index) of round \(round)")
          }
        }
        try await group.waitForAll()
      }
    }
    withExtendedLifetime((long, short)) {}
  }

  @Test(
    "eight concurrent requests with a wrong or unprivileged credential get a 401 or 407, or an error for a tunnel",
    arguments: GuardedPage.all + GuardedPage.forbidden)
  func refused(page: GuardedPage) async throws {
    let session = try page.makeSession()
    defer { session.invalidateAndCancel() }
    let (long, short) = (try Upload(byteCount: page.uploadByteCount), try Upload(byteCount: 1_000))
    for round in 0..<repetitions(of: 2) {
      let upload = round % 10 == 0 ? long : short
      let contents = upload.contents + [GuardedPage.Content](repeating: .empty, count: 8 - upload.contents.count)
      for credential in page.wrong {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for content in contents {
            group.addTask { try await Self.expectRefusal(of: content, as: credential, by: page, through: session) }
          }
          try await group.waitForAll()
        }
      }
    }
    withExtendedLifetime((long, short)) {}
  }

  private static func expectRefusal(
    of content: GuardedPage.Content, as credential: URLCredential, by page: GuardedPage, through session: URLSession
  ) async throws {
    guard page.isTunneled else {
      let status = try await page.send(content, as: credential, through: session).status
      #expect(status == page.refusal)
      return
    }
    let error = await #expect(throws: URLError.self) { try await page.send(content, as: credential, through: session) }
    #expect(error?.code == .cannotConnectToHost && error?.localizedDescription.contains("407") == true)
  }
}
