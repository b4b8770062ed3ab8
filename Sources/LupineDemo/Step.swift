// One step of the tour: its code as text and as a closure, and what it found.

import Foundation

/// A step that runs a few lines and checks what came back.
struct Step: Sendable {
  let title: String
  /// The lines that `run` begins with, as the reader sees them; a test compares the two.
  let code: String
  /// Runs the lines, checks the outcome, and returns what is worth telling.
  let run: @Sendable (Stage) async throws -> String
}

/// A step did not do what it says.
struct StepFailure: Error, CustomStringConvertible {
  let description: String
}

/// Throws unless `condition` holds.
func check(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw StepFailure(description: what()) }
}
