// SettingReader: reads the values of a configuration, and refuses those that aren't permitted.

#if Services
  internal import Configuration

  /// Reads values below one key of a configuration.
  ///
  /// A `ConfigReader` returns nil both for a missing value and for one of another type. A value of another type is an error here,
  /// so that a typing error isn't ignored silently.
  struct SettingReader {
    private let reader: ConfigReader
    private let prefix: String

    init(_ reader: ConfigReader, _ prefix: String) {
      self.reader = prefix.isEmpty ? reader : reader.scoped(to: ConfigKey(prefix))
      self.prefix = prefix.isEmpty ? "" : prefix + "."
    }

    func integer(_ key: String, _ range: ClosedRange<Int>, unit: String? = nil) throws(SettingError) -> Int? {
      let bounds =
        range.upperBound == .max
        ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
      let permitted = "an integer \(bounds)" + (unit.map { " (\($0))" } ?? "")
      guard let value = reader.int(forKey: ConfigKey(key)) else {
        try requireNothing(key, permitted)
        return nil
      }
      guard range.contains(value) else { throw refusal(key, .value("\(value)"), permitted) }
      return value
    }

    func duration(_ key: String) throws(SettingError) -> Duration? {
      try integer(key, 1...ClientSettings.millisecondsMax, unit: "milliseconds").map { .milliseconds($0) }
    }

    func bool(_ key: String) throws(SettingError) -> Bool? {
      if let value = reader.bool(forKey: ConfigKey(key)) { return value }
      try requireNothing(key, "true or false")
      return nil
    }

    func string(_ key: String, isSecret: Bool = false) throws(SettingError) -> String? {
      if let value = reader.string(forKey: ConfigKey(key), isSecret: isSecret) { return value }
      try requireNothing(key, "a string", isSecret: isSecret)
      return nil
    }

    func requiredString(_ key: String, _ permitted: String, isSecret: Bool = false) throws(SettingError) -> String {
      guard let value = try string(key, isSecret: isSecret) else { throw refusal(key, .nothing, permitted) }
      return value
    }

    /// Returns the value if it is one of `values`.
    func choice(_ key: String, _ values: [String]) throws(SettingError) -> String? {
      guard let value = try string(key) else { return nil }
      guard values.contains(value) else { throw refusal(key, .value(value), Self.list(values)) }
      return value
    }

    func strings(_ key: String, isSecret: Bool = false) throws(SettingError) -> [String]? {
      if let values = reader.stringArray(forKey: ConfigKey(key), isSecret: isSecret) { return values }
      try requireNothing(key, "an array of strings", isSecret: isSecret)
      return nil
    }

    func refusal(_ key: String, _ found: SettingError.Found, _ permitted: String) -> SettingError {
      SettingError(key: prefix + key, found: found, permitted: permitted)
    }

    static func list(_ values: [String]) -> String { values.map { "\"\($0)\"" }.joined(separator: " or ") }

    /// Throws an error if the key has a value, of whatever type.
    private func requireNothing(_ key: String, _ permitted: String, isSecret: Bool = false) throws(SettingError) {
      guard let text = text(ConfigKey(key), isSecret) else { return }
      throw refusal(key, isSecret ? .secret : .value(text), permitted)
    }

    /// Returns the value of a key as text, or nil if it has none.
    private func text(_ key: ConfigKey, _ isSecret: Bool) -> String? {
      if let value = reader.string(forKey: key, isSecret: isSecret) { return value }
      if let value = reader.int(forKey: key, isSecret: isSecret) { return "\(value)" }
      if let value = reader.double(forKey: key, isSecret: isSecret) { return "\(value)" }
      if let value = reader.bool(forKey: key, isSecret: isSecret) { return "\(value)" }
      if let value = reader.stringArray(forKey: key, isSecret: isSecret) { return "\(value)" }
      return reader.intArray(forKey: key, isSecret: isSecret).map { "\($0)" }
    }
  }
#endif
