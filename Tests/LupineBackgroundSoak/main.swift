// LupineBackgroundSoak: kills a process with background transfers repeatedly, and checks the files that arrive.
//
//   LupineBackgroundSoak SECONDS TRANSFERS           serves, starts workers, kills them, and checks; the default is 60 50
//   LupineBackgroundSoak work FOLDER URL NAME...     the worker: performs the transfers with these names, and ends

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "work", arguments.count > 2 {
  Worker(folder: arguments[1], url: arguments[2], names: Array(arguments.dropFirst(3))).run()
} else {
  let numbers = arguments.compactMap { Int($0) }
  guard numbers.count == arguments.count, numbers.count <= 2 else {
    fatalError("usage: LupineBackgroundSoak [SECONDS [TRANSFERS]]")
  }
  let soak = try Soak(seconds: numbers.first ?? 60, transferCount: numbers.dropFirst().first ?? 50)
  exit(try soak.run() ? 0 : 1)
}
