// FuzzTarget: a property of the code under test, and a function that aborts if the property doesn't hold for an input.

import Glibc

/// One fuzz target.
struct FuzzTarget: Sendable {
  let name: String
  /// The property that must hold for every input, in one line.
  let summary: String
  /// Called once, before the first input.
  var prepare: @Sendable () -> Void = {}
  let run: @Sendable ([UInt8]) -> Void

  static let all: [FuzzTarget] = [
    .response, .connection, .chunked, .fields, .proxy,
    .uri, .redirect, .address, .dates, .cookies, .challenges, .digest, .ntlm, .handshake,
    .certificate, .pem, .revocation, .contentFields, .dataURL,
    .decoder, .encoder, .text, .propertyList,
    .form, .multipart, .json, .curl,
    .netlink, .network,
    .caching, .cacheRecord, .transferRecord, .resumeData, .archive, .redaction,
    .pool, .exchange,
  ]

  /// The environment variable with the name of the target to run.
  static let variable = "LUPINE_FUZZ_TARGET"

  static var ofEnvironment: FuzzTarget? {
    guard let name = getenv(variable).map({ String(cString: $0) }) else { return nil }
    return all.first { $0.name == name }
  }

  /// The target to run, looked up once.
  static let chosen: FuzzTarget = {
    guard let target = ofEnvironment else { fatalError("\(variable) names no target") }
    return target
  }()
}

/// Prints the rule and aborts the program if `condition` is false.
func hold(
  _ condition: Bool, _ rule: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  guard !condition else { return }
  let text = Array("BROKEN PROPERTY (\(file):\(line)): \(rule())\n".utf8)
  _ = write(STDERR_FILENO, text, text.count)
  abort()
}

/// Returns bytes as readable text that can be pasted into code, for messages of `hold`.
func shown(_ bytes: some Sequence<UInt8>) -> String {
  bytes.reduce(into: "") { text, byte in
    if byte >= 0x20, byte < 0x7F {
      text.unicodeScalars.append(Unicode.Scalar(byte))
    } else {
      text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }
}
