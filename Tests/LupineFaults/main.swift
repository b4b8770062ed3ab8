// LupineFaults: fails the n-th call of each function that a session uses, for n = 1, 2, … and in each way that the call
// can fail, until a run makes fewer calls. Prints the problems of each run.
//
//   LupineFaults calls|openssl|codings SCENARIO [GROWTH]
//   LupineFaults clock
//
// GROWTH is the growth of the steps of n, in hundredths of n. The default of 0 tests every n. The exit status is 1 if a
// run had a problem. CLupineFaults.h describes how calls fail.

import CLupineFaults
import Foundation
import Glibc

/// Prints a line without buffering, because the process may crash.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

let arguments = CommandLine.arguments
if arguments.dropFirst() == ["clock"] { exit(try await ClockTrial.run()) }
guard arguments.count >= 3, let kind = FaultKind(rawValue: arguments[1]),
  let scenario = Scenario(rawValue: arguments[2]), let growth = arguments.count > 3 ? Int(arguments[3]) : 0
else {
  let scenarios = Scenario.allCases.map(\.rawValue).joined(separator: "|")
  say("usage: LupineFaults calls|openssl|codings \(scenarios) [GROWTH] | clock")
  exit(2)
}

let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-faults-\(UUID())")
guard lupine_faults_begin(folder.path) else { fatalError("OpenSSL has allocated before its allocator was set") }
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
setenv("TMPDIR", folder.path, 1)

let status = try await Campaign(kind: kind, scenario: scenario, folder: folder, growth: growth).run()
try FileManager.default.removeItem(at: folder)
// OpenSSL leaks memory when an allocation fails. A sanitizer would report the leak at exit.
if kind == .openssl { _exit(status) }
exit(status)
