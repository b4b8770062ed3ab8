// Whatever call beneath it fails, a request ends once, as it should, and nothing is left of it.

import LupineTestSupport
import Testing

/// LupineFaults does the work, in a process of its own for each scenario: CLupineFaults.h says how.
/// One after the other, since each is a load for a whole machine.
@Suite(.serialized, .timeLimit(.minutes(20))) struct FaultTests {
  /// How large the steps become in which calls are counted, in hundredths: a sanitizer takes too long for each.
  private static let growth = testsDivisor > 1 ? "20" : "0"
  private static let scenarios = [
    "plain", "secure", "tunnel", "redirect", "codings", "uploadData", "uploadFile", "uploadSecureFile", "multipart",
    "download",
  ].filter { $0 == testsArgument ?? $0 }

  @Test("the n-th system call fails in each of its ways, for every n", arguments: scenarios)
  func systemCalls(scenario: String) async throws {
    let (status, output) = try await runProgram(["LupineFaults", "calls", scenario, Self.growth])
    #expect(status == 0, "\(output)")
    // Otherwise nothing was in the calls' way, and this has shown nothing.
    for call in ["epoll_wait", "connect", "send", "recv"] { #expect(output.contains("\(call) "), "\(output)") }
  }

  // Every allocation takes 20 s; from the twentieth on, each step is a twentieth longer than the one before, up to 16.
  @Test("the n-th allocation of OpenSSL fails", arguments: ["secure", "tunnel"].filter { $0 == testsArgument ?? $0 })
  func openSSL(scenario: String) async throws {
    let (status, output) = try await runProgram(["LupineFaults", "openssl", scenario, "5"])
    #expect(status == 0, "\(output)")
  }

  @Test("the n-th allocation of a content coding's library fails")
  func codings() async throws {
    let (status, output) = try await runProgram(["LupineFaults", "codings", "codings", "0"])
    #expect(status == 0, "\(output)")
    for call in ["zalloc", "brotli_alloc_func"] { #expect(output.contains("\(call) "), "\(output)") }
  }
}
