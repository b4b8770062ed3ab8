// Step: a step of the tour with its code, as text and as a closure.

import Foundation

/// A step that runs a few lines and checks their result.
struct Step: Sendable {
  let title: String
  /// The first lines of `run`, as shown to the reader. A test checks that they are equal.
  let code: String
  /// Runs the lines, checks the result, and returns the text to print.
  let run: @Sendable (Stage) async throws -> String
}

/// The error of a step whose check failed.
struct StepFailure: Error, CustomStringConvertible {
  let description: String
}

/// Throws a `StepFailure` unless `condition` is true.
func check(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw StepFailure(description: what()) }
}
