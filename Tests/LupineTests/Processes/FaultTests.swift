// Fault injection: whichever system or library call fails, a request ends once with a justified outcome and leaves
// nothing behind.

import LupineTestSupport
import Testing

/// Runs LupineFaults in a dedicated process for each scenario; CLupineFaults.h describes the faults. The runs are
/// serialized because one alone keeps the machine busy.
@Suite(.serialized, .timeLimit(.minutes(20))) struct FaultTests {
  /// The growth of the steps of n, in hundredths of n. With 0 every n is tested, which takes too long with a sanitizer.
  private static let growth = testsDivisor > 1 ? "20" : "0"
  private static let scenarios = [
    "plain", "secure", "tunnel", "redirect", "codings", "uploadData", "uploadFile", "uploadSecureFile", "multipart",
    "download",
  ].filter { $0 == testsArgument ?? $0 }

  @Test(
    "when the n-th system call fails in each possible way, for every n, a request ends once, as expected",
    arguments: scenarios)
  func systemCalls(scenario: String) async throws {
    let (status, output) = try await runProgram(["LupineFaults", "calls", scenario, Self.growth])
    #expect(status == 0, "\(output)")
    // A run in which none of these calls failed has tested nothing.
    for call in ["epoll_wait", "connect", "send", "recv"] { #expect(output.contains("\(call) "), "\(output)") }
  }

  // Testing every n takes 20 s. With the growth 5, a step is 1 + n / 20 allocations, and at most 16.
  @Test(
    "when the n-th allocation of OpenSSL fails, a request ends once, as expected",
    arguments: ["secure", "tunnel"].filter { $0 == testsArgument ?? $0 })
  func openSSL(scenario: String) async throws {
    let (status, output) = try await runProgram(["LupineFaults", "openssl", scenario, "5"])
    #expect(status == 0, "\(output)")
  }

  @Test("when the n-th allocation of a content coding's library fails, a request ends once, as expected")
  func codings() async throws {
    let (status, output) = try await runProgram(["LupineFaults", "codings", "codings", "0"])
    #expect(status == 0, "\(output)")
    for call in ["zalloc", "brotli_alloc_func"] { #expect(output.contains("\(call) "), "\(output)") }
  }
}
