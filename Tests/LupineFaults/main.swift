// Fails the n-th call of each name beneath a session, for n = 1, 2, … and in every way that call can fail, until a run
// needs fewer; says what was wrong with each run.
//
//   LupineFaults calls|openssl|codings SCENARIO [EVERY]
//   LupineFaults clock
//
// EVERY says how large the steps of n become, in hundredths of n: 0, the default, for every n. Exits with 1 if a run was
// wrong. See CLupineFaults.h for how calls are failed.

import CLupineFaults
import Foundation
import Glibc

/// Writes a line at once, since the process may crash.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

let arguments = CommandLine.arguments
if arguments.dropFirst() == ["clock"] { exit(try await ClockTrial.run()) }
guard arguments.count >= 3, let kind = FaultKind(rawValue: arguments[1]),
  let scenario = Scenario(rawValue: arguments[2]), let growth = arguments.count > 3 ? Int(arguments[3]) : 0
else {
  let scenarios = Scenario.allCases.map(\.rawValue).joined(separator: "|")
  say("usage: LupineFaults calls|openssl|codings \(scenarios) [EVERY] | clock")
  exit(2)
}

let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-faults-\(UUID())")
guard lupine_faults_begin(folder.path) else { fatalError("OpenSSL has allocated before its allocator was set") }
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
setenv("TMPDIR", folder.path, 1)

let status = try await Campaign(kind: kind, scenario: scenario, folder: folder, growth: growth).run()
try FileManager.default.removeItem(at: folder)
// OpenSSL itself loses memory where it lacks some, which a sanitizer would report at the exit.
if kind == .openssl { _exit(status) }
exit(status)
