// EngineErrorTests: error descriptions are one line with the origin, the event and a remedy.

import Glibc
import LupineCoding
import LupineTLS
import LupineWire
import Testing

@testable import LupineEngine
@testable import LupineReactor

@Suite("EngineError")
struct EngineErrorTests {
  private let origin = Origin(scheme: .https, host: "example.com", port: 8443)

  private func causes() -> [EngineError.Cause?] {
    var causes: [EngineError.Cause?] = [
      nil, .wire(.truncatedHead(received: 0)), .wire(.notHTTP(prefix: "SSH-2.0")),
      .tls(TLSError(code: .hostMismatch, message: "The certificate is another host's. Check the name.")),
      .system(SystemError(call: "recv", code: ECONNRESET)), .system(.fileEnded("/tmp/x")),
      .resolve(ResolveError(.temporary, "Temporary failure in name resolution")),
      .uri(.missingScheme("x")), .uri(.forbiddenByte(9)), .uri(.malformedHost("a b")), .uri(.malformedPort("x")),
      .uri(.unsupportedScheme("ftp")), .limit(.milliseconds(250)), .maximum(20),
      .refusal(.proxy),
    ]
    do throws(CodingError) {
      _ = try ContentCoding.list("unheard-of")
    } catch {
      causes.append(.coding(error))
    }
    return causes
  }

  @Test(
    "an engine error's description is one line with place, event and remedy, for each code, phase and cause",
    arguments: EngineError.Code.allCases)
  func descriptions(code: EngineError.Code) {
    let causes = causes()
    #expect(causes.count == 16)
    for phase in Phase.allCases {
      for cause in causes {
        let text = EngineError(code, phase, origin, cause: cause).description
        #expect(text.hasPrefix("https://example.com:8443: "), "\(text)")
        #expect(text.hasSuffix("."), "\(text)")
        #expect(text.split(whereSeparator: \.isNewline).count == 1, "\(text)")
        // The event is stated in the first sentence, and the remedy in another.
        let hasRemedy = text.split(separator: ". ").dropFirst().contains { $0.first?.isUppercase == true }
        #expect(hasRemedy, "\(text)")
      }
    }
  }

  @Test("the description of a timeout error states the time limit", arguments: Phase.allCases)
  func timeouts(phase: Phase) {
    let text = EngineError(.timedOut, phase, origin, cause: .limit(.milliseconds(1_250))).description
    #expect(text.contains("1.25 s"))
  }

  @Test("timeout errors of different phases have different descriptions")
  func timeoutsDiffer() {
    let texts = Phase.allCases.map { EngineError(.timedOut, $0, origin, cause: .limit(.seconds(1))).description }
    #expect(Set(texts).count == Phase.allCases.count)
  }

  @Test("an engine error's description contains the cause, or the value of the exceeded limit")
  func causesAreTold() {
    let table: [(EngineError.Code, EngineError.Cause, String)] = [
      (.connectFailed, .system(SystemError(call: "connect", code: ENETUNREACH)), "connect: Network is unreachable"),
      (.connectionLost, .system(SystemError(call: "recv", code: ECONNRESET)), "recv: Connection reset by peer"),
      (.bodyUnreadable, .system(SystemError(call: "open /a", code: ENOENT)), "open /a: No such file or directory"),
      (.outOfResources, .system(SystemError(call: "socket", code: EMFILE)), "socket: Too many open files"),
      (.resolveFailed, .resolve(ResolveError(.temporary, "Try later")), "(Try later)"),
      (.tooManyRedirects, .maximum(20), "20 times"), (.bodyTooLarge, .maximum(1_000), "1000 bytes"),
      (.malformedResponse, .uri(.unsupportedScheme("ftp")), "\"ftp\""),
      (.malformedResponse, .wire(.notHTTP(prefix: "SSH-2.0")), "SSH-2.0"),
    ]
    for (code, cause, part) in table {
      let text = EngineError(code, .receive, origin, cause: cause).description
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test(
    "text from a peer is escaped in an error's description, so that it can't break the line or control the terminal",
    arguments: ["\u{85}", "\u{2028}", "\u{2029}", "\u{9B}"])
  func hostileText(character: String) throws {
    // The description contains the host of the Location field.
    var cause: URIError?
    do { _ = try URI("http://a/").resolving("http://b\(character)c/") } catch { cause = error }
    let text = EngineError(.malformedResponse, .receive, origin, cause: .uri(try #require(cause))).description
    #expect(!text.unicodeScalars.contains { character.unicodeScalars.contains($0) })
    #expect(text.contains("b\u{FFFD}c"))
  }

  @Test("an error's description is a single line, even if the error of a request body's producer has several lines")
  func textOfProducer() {
    struct ProducerFailure: Error, CustomStringConvertible { let description = "a\nb\u{1B}[2J\u{2028}c\u{2029}d" }
    let text = EngineError(.bodyUnreadable, .send, origin, cause: .producer(ProducerFailure())).description
    #expect(text.contains(#"a\u{a}b\u{1b}[2J\u{2028}c\u{2029}d"#))
  }

  @Test(
    "error descriptions show durations in seconds with at most three decimals",
    arguments: [
      (.zero, "0 s"), (.seconds(10), "10 s"), (.milliseconds(250), "0.25 s"), (.milliseconds(1), "0.001 s"),
      (.milliseconds(1_010), "1.01 s"), (.milliseconds(999), "0.999 s"), (.microseconds(999), "0 s"),
      (.milliseconds(60_500), "60.5 s"), (.seconds(-1), "-1 s"), (.milliseconds(-500), "0 s"),
      (.seconds(Int64.max), "9223372036854775807 s"),
    ] as [(Duration, String)])
  func durations(duration: Duration, text: String) {
    #expect(duration.formattedSeconds == text)
  }
}
