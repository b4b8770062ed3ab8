// FuzzTarget: a property of the code under test, and a function that aborts if the property doesn't hold for an input.

import Glibc

/// A fuzz target: a property of the code under test, and a function that checks the property for an input.
struct FuzzTarget: Sendable {
  let name: String
  /// The property that must be true for every input, in one line.
  let summary: String
  /// A closure that is called once, before the first input.
  var prepare: @Sendable () -> Void = {}
  let run: @Sendable ([UInt8]) -> Void

  static let all: [FuzzTarget] = [
    .response, .connection, .chunked, .fields, .proxy, .eventStream,
    .uri, .redirect, .address, .dates, .cookies, .challenges, .digest, .ntlm, .handshake,
    .certificate, .pem, .revocation, .contentFields, .dataURL,
    .decoder, .encoder, .text, .propertyList,
    .form, .multipart, .json, .decoding, .encoding, .curl,
    .netlink, .network,
    .caching, .cacheRecord, .transferRecord, .resumeData, .archive, .redaction,
    .frames, .messages,
    .pool, .exchange,
  ]

  /// The environment variable whose value is the name of the target to run.
  static let variable = "LUPINE_FUZZ_TARGET"

  static var ofEnvironment: FuzzTarget? {
    guard let name = getenv(variable).map({ String(cString: $0) }) else { return nil }
    return all.first { $0.name == name }
  }

  /// The target that the environment variable names. The program traps if there is no such target.
  static let chosen: FuzzTarget = {
    guard let target = ofEnvironment else { fatalError("\(variable) names no target") }
    return target
  }()
}

/// Checks a property: if `condition` is false, prints `rule` and aborts the program.
func hold(
  _ condition: Bool, _ rule: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  guard !condition else { return }
  let text = Array("BROKEN PROPERTY (\(file):\(line)): \(rule())\n".utf8)
  _ = write(STDERR_FILENO, text, text.count)
  abort()
}

/// Returns bytes as ASCII text with escapes such as `\x0a`, for messages of `hold`.
func shown(_ bytes: some Sequence<UInt8>) -> String {
  bytes.reduce(into: "") { text, byte in
    if byte >= 0x20, byte < 0x7F {
      text.unicodeScalars.append(Unicode.Scalar(byte))
    } else {
      text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }
}
