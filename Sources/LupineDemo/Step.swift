// Step: a step of the tour with its code, as text and as a closure.

import Foundation

/// A step of the demo. It runs a few lines of example code and checks their result.
struct Step: Sendable {
  let title: String
  /// The source text of the first lines of `run`, as the demo prints it. A test checks that it matches the code of `run`.
  let code: String
  /// Runs the example code, checks its result, and returns the text to print.
  let run: @Sendable (Stage) async throws -> String
}

/// The error of a step of the demo whose check failed.
struct StepFailure: Error, CustomStringConvertible {
  let description: String
}

/// Throws a `StepFailure` with the text `what` unless `condition` is true.
func check(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw StepFailure(description: what()) }
}
