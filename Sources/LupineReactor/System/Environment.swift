// Environment: reads environment variables.

internal import LupineLibc

/// The environment variables of this process.
package enum Environment {
  /// Returns a dictionary with the values of the environment variables in `names`. Variables that aren't set are left out.
  package static func values(of names: [String]) -> [String: String] {
    var values: [String: String] = [:]
    for name in names {
      // SAFETY: the string is copied immediately. A concurrent setenv in another thread is the caller's race, as with
      // every library that reads a variable.
      if let value = getenv(name) { values[name] = String(cString: value) }
    }
    return values
  }
}
