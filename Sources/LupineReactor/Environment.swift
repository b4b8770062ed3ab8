// Variables of the process's environment.

internal import Glibc

/// The environment, read by name.
package enum Environment {
  /// The values of those of the variables that are set.
  package static func values(of names: [String]) -> [String: String] {
    var values: [String: String] = [:]
    for name in names {
      // SAFETY: the string is copied at once. setenv in another thread meanwhile is the caller's race, as for every
      // library that reads a variable.
      if let value = getenv(name) { values[name] = String(cString: value) }
    }
    return values
  }
}
