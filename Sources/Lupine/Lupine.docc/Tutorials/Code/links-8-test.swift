import Foundation
import FoundationNetworking
import LupineTesting
import Testing

@testable import LinkChecker

struct LinkCheckerTests {
  @Test("a link works if its server answers with a status below 400")
  func statuses() async throws {
    let stubs = Stubs()
    stubs.reply(to: .any.host("example.org"), with: .status(200))
    stubs.reply(to: .any.path("/gone"), with: .status(410))
    let checker = LinkChecker(configuration: stubs.configuration())

    let works = try #require(URL(string: "https://example.org/"))
    let gone = try #require(URL(string: "https://example.org/gone"))
    #expect(await checker.failure(of: works) == nil)
    #expect(await checker.failure(of: gone) == "status 410")
  }

  @Test("an address in the server's own network isn't requested")
  func metadata() async throws {
    let link = try #require(URL(string: "http://169.254.169.254/latest/meta-data/"))
    let failure = await LinkChecker().failure(of: link)
    #expect(failure?.contains("the address policy refuses 169.254.169.254") == true)
  }
}
