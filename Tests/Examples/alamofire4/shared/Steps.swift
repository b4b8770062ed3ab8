// Steps: runs the sections of a program in order, while the main queue calls the completion handlers.

import Dispatch
import Foundation

/// The URL of the httpbin server to use, without a final slash.
let base = CommandLine.arguments.dropFirst().first ?? "https://httpbin.org"

/// A section of the program. It calls `done` when its last response has been handled.
typealias Step = (_ done: @escaping () -> Void) -> Void

func run(_ steps: ArraySlice<Step>) {
  guard let step = steps.first else { exit(0) }
  step { run(steps.dropFirst()) }
}
