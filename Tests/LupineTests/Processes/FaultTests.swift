// Fault injection: whichever system or library call fails, a request ends once with a justified outcome and leaves
// nothing behind.

import LupineTestSupport
import Testing

/// Runs the program LupineFaults once for each scenario. CLupineFaults.h describes the faults that the program injects. The
/// runs are serialized, because a single one keeps the machine busy.
@Suite(.serialized, .timeLimit(.minutes(20))) struct FaultTests {
  /// LupineFaults' argument for the growth of n, in percent. With 0, LupineFaults lets each n-th call fail. With a sanitizer,
  /// that would be too slow, so n increases by 1 + 40 % of n.
  private static let growth = testsDivisor > 1 ? "40" : "0"
  private static let scenarios = [
    "plain", "secure", "tunnel", "redirect", "codings", "uploadData", "uploadFile", "uploadSecureFile", "multipart",
    "download",
  ].filter { $0 == testsArgument ?? $0 }

  @Test(
    "a request ends once, with a success or an expected error, if any system call fails with any of its possible errors",
    arguments: scenarios)
  func systemCalls(scenario: String) async throws {
    let (status, output) = try await runProgram(["LupineFaults", "calls", scenario, Self.growth])
    #expect(status == 0, "\(output)")
    // The output names the calls that were made to fail. A run without failures of these calls would have tested nothing.
    for call in ["epoll_wait", "connect", "send", "recv"] { #expect(output.contains("\(call) "), "\(output)") }
  }

  // Letting each n-th allocation fail takes 20 s. With the growth 5, n increases by 1 + n / 20, and at most by 16.
  @Test(
    "a request ends once, with a success or an expected error, if any memory allocation in OpenSSL fails",
    arguments: ["secure", "tunnel"].filter { $0 == testsArgument ?? $0 })
  func openSSL(scenario: String) async throws {
    let (status, output) = try await runProgram(["LupineFaults", "openssl", scenario, "5"])
    #expect(status == 0, "\(output)")
  }

  @Test(
    "a request ends once, with a success or an expected error, if any memory allocation in a compression library fails")
  func codings() async throws {
    let (status, output) = try await runProgram(["LupineFaults", "codings", "codings", "0"])
    #expect(status == 0, "\(output)")
    #if Zstd
      let calls = ["zalloc", "brotli_alloc_func", "ZSTD_allocFunction"]
    #else
      let calls = ["zalloc", "brotli_alloc_func"]
    #endif
    for call in calls { #expect(output.contains("\(call) "), "\(output)") }
  }
}
