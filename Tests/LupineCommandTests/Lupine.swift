// Runs the command `lupine`, which the build has put into the folder of the test bundle.

import Foundation
import Glibc
import LupineTestSupport

/// The result of running the command `lupine` once.
struct Run {
  /// The exit status, or 128 plus the signal's number if a signal ended the process.
  let status: Int32
  let output: String
  let errors: String

  /// Whether standard error contains exactly one line.
  var hasOneErrorLine: Bool { errors.hasSuffix("\n") && !errors.dropLast().contains("\n") }
}

struct CommandMissing: Error, CustomStringConvertible {
  let path: String
  var description: String { "\(path) isn't there: run `swift build --product lupine`" }
}

/// Runs the command `lupine` to its end. If `standardError` is a descriptor, it replaces standard error, and `errors` stays empty.
func lupine(_ arguments: [String], input: String = "", standardError: CInt? = nil) async throws -> Run {
  let path = try commandPath()
  return try await run([path] + arguments, input, standardError)
}

/// Runs a command line in sh, in which `$lupine` is the path of the command.
func shell(_ line: String) async throws -> Run {
  try await run(["/bin/sh", "-c", "lupine='\(try commandPath())'; \(line)"], "", nil)
}

/// Returns the path of the command.
func commandPath() throws -> String {
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let path = bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/lupine"
  guard access(path, X_OK) == 0 else { throw CommandMissing(path: path) }
  return path
}

private func run(_ command: [String], _ input: String, _ standardError: CInt?) async throws -> Run {
  let folder = try Folder()
  let errors = try folder.write("err", "")
  let (status, output) = try await ChildProcess.run(
    command, input: input, errors: standardError.map { .descriptor($0) } ?? .file(errors))
  return Run(status: status, output: String(decoding: output, as: UTF8.self), errors: try folder.read("err"))
}
