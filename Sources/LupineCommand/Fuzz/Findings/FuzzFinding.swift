// FuzzFinding: one fault that the fuzzer found, as it is printed, saved and read again.

import LupineEngine
import LupineJSON

/// A fault of the server with everything that is needed to send its requests again, except for their bytes. Its members are those of
/// the JSON that `--json` and `--save` write.
struct FuzzFinding: Codable {
  /// How the responses to a desync probe are judged.
  struct Probe: Codable {
    var expected: [DesyncProbe.Answer]
    var terms: DesyncProbe.Terms
    var baseline: DesyncBaseline
  }

  var type = "finding"
  var seed: UInt64
  /// The number of the request or of the probe in the run.
  var number: Int
  var fault: String
  var reason: String
  /// The mutations of the request, or the name of the probe.
  var mutations: [String]
  /// The sizes of the parts of the request in bytes. There are several if a probe sends a part after a response.
  var parts: [Int]
  /// The size of the request before it was minimized, in bytes, if it was.
  var originalSize: Int?
  /// Whether a server may wait for more bytes of the request, so that a missing response isn't a hang.
  var mayBeUnfinished = false
  var probe: Probe?
  /// The command that sends the request again.
  var command = ""

  /// The finding as one line of JSON.
  var jsonLine: String { JSONLine.text(self) }

  /// Parses a file that `--save` has written. Returns nil if it isn't one.
  init?(json: [UInt8]) {
    guard let finding = try? JSONDecoding.decode(FuzzFinding.self, from: json.span, JSONDecodingOptions()) else {
      return nil
    }
    self = finding
  }

  init(_ request: MutatedRequest, seed: UInt64, _ fault: FuzzVerdict.Fault, _ reason: String) {
    self.seed = seed
    (number, mutations, parts) = (request.number, request.mutations, [request.bytes.count])
    mayBeUnfinished = request.mayBeUnfinished
    (self.fault, self.reason) = (fault.rawValue, reason)
  }

  init(
    _ probe: DesyncProbe, number: Int, seed: UInt64, _ baseline: DesyncBaseline, _ fault: FuzzVerdict.Fault,
    _ reason: String
  ) {
    self.seed = seed
    self.number = number
    (mutations, parts) = ([probe.name], probe.parts.map(\.count))
    self.probe = Probe(expected: probe.expected, terms: probe.terms, baseline: baseline)
    (self.fault, self.reason) = (fault.rawValue, reason)
  }

  /// The finding as lines for a terminal.
  var text: String {
    let line = "#\(number) \(fault): \(mutations.joined(separator: ", ")): \(reason)".printable
    let size = originalSize.map { "  minimized: \($0) to \(parts.reduce(0, +)) bytes\n" } ?? ""
    return "\(line)\n\(size)  again: \(command)\n"
  }

  /// Divides the bytes of the request into its parts. Returns nil if the sizes don't fit.
  func divided(_ bytes: [UInt8]) -> [[UInt8]]? {
    var rest = bytes[...]
    var divided: [[UInt8]] = []
    for count in parts {
      guard count >= 0, count <= rest.count else { return nil }
      divided.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return rest.isEmpty && !divided.isEmpty ? divided : nil
  }
}

/// The last line of `--json`: the figures of the whole run.
struct FuzzTotals: Codable {
  var type = "summary"
  var seed: UInt64
  var requests = 0
  var faults = 0
  /// The number of responses by status class, such as "2xx", and of other outcomes.
  var outcomes: [String: Int] = [:]

  var jsonLine: String { JSONLine.text(self) }
}

private enum JSONLine {
  static func text(_ value: some Encodable) -> String {
    var encoder = LupineJSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The values contain only texts, whole numbers and flags, which can always be encoded.
    guard let bytes = try? encoder.encode(value) else { preconditionFailure("a finding can't be encoded") }
    return String(decoding: bytes, as: UTF8.self) + "\n"
  }
}
