// FuzzReport: writes findings as text, as lines of JSON and as JUnit's XML.

import LupineEngine

/// The outputs of a run of the fuzzer.
struct FuzzReport {
  private let text: Output?
  private let json: Output?
  private let junit: Output?
  private var findings: [FuzzFinding] = []

  /// Creates the files of `--json` and `--junit`. The path "-" is standard output, which then has no other text.
  init(json jsonPath: String?, junit junitPath: String?) throws(CommandError) {
    text = [jsonPath, junitPath].contains("-") ? nil : Output(path: nil)
    json = jsonPath.map { Output(path: $0 == "-" ? nil : $0) }
    junit = junitPath.map { Output(path: $0 == "-" ? nil : $0) }
    try json?.open()
    try junit?.open()
  }

  func write(_ line: String) throws(CommandError) { try text?.write(line + "\n") }

  /// Adds a finding. If `isPrinted` is true, the text was printed before.
  mutating func add(_ finding: FuzzFinding, isPrinted: Bool = false) throws(CommandError) {
    findings.append(finding)
    if !isPrinted { try text?.write(finding.text) }
    try json?.write(finding.jsonLine)
  }

  /// Writes the figures of the run, and closes the files. `summary` is the last line of the text.
  func end(_ totals: FuzzTotals, summary: String) throws(CommandError) {
    try text?.write(summary)
    try json?.write(totals.jsonLine)
    try junit?.write(Self.junit(findings, totals))
    try json?.close()
    try junit?.close()
  }

  /// Returns the findings as failed test cases in JUnit's XML, and the run as a test case that passed if there are none. The texts
  /// are made printable, because XML permits no control characters.
  static func junit(_ findings: [FuzzFinding], _ totals: FuzzTotals) -> String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    let count = max(1, findings.count)
    text += "<testsuite name=\"lupine fuzz\" tests=\"\(count)\" failures=\"\(findings.count)\">\n"
    for finding in findings {
      let name = "#\(finding.number) \(finding.mutations.joined(separator: ", "))"
      text += "  <testcase classname=\"lupine.fuzz\" name=\"\(name.printable.xmlEscaped)\">\n"
      text += "    <failure type=\"\(finding.fault)\" message=\"\(finding.reason.printable.xmlEscaped)\">"
      text += "\(finding.command.printable.xmlEscaped)</failure>\n  </testcase>\n"
    }
    if findings.isEmpty {
      text += "  <testcase classname=\"lupine.fuzz\" name=\"\(totals.requests) requests with seed \(totals.seed)\"/>\n"
    }
    return text + "</testsuite>\n"
  }
}
