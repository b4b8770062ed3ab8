// SettingError: a value of a configuration that isn't permitted.

#if Services
  /// The error of a configuration: which key has which value, and what is permitted.
  public struct SettingError: Error, Sendable, Hashable {
    /// The configuration's value for the key.
    public enum Found: Sendable, Hashable {
      /// The configuration has no value, although one is required.
      case nothing
      /// This value isn't permitted.
      case value(String)
      /// A value that isn't permitted, and that the error doesn't contain because it is a secret.
      case secret
    }

    /// The key, relative to the reader that was passed to Lupine, such as "timeout.readMs".
    public let key: String
    /// The configuration's value for the key.
    public let found: Found
    /// The permitted values, such as "an integer from 1 to 604800000 (milliseconds)".
    public let permitted: String

    package init(key: String, found: Found, permitted: String) {
      self.key = key
      self.found = found
      self.permitted = permitted
    }
  }

  extension SettingError: CustomStringConvertible {
    /// One line for logs and users.
    public var description: String {
      switch found {
      case .nothing: "the configuration has no \(key). Set it to \(permitted)."
      case .value(let text): "the configuration's \(key) is \"\(text)\". Set it to \(permitted)."
      case .secret: "the configuration's \(key), a secret, isn't permitted. Set it to \(permitted)."
      }
    }
  }
#endif
