// ProxyDictionary: converts Foundation's `connectionProxyDictionary` to the engine's proxy settings.

import Foundation
import LupineEngine

/// The entries of a `connectionProxyDictionary` that Lupine supports.
struct ProxyDictionary: Sendable {
  private enum Key: String, CaseIterable {
    case httpEnable = "HTTPEnable"
    case httpProxy = "HTTPProxy"
    case httpPort = "HTTPPort"
    case httpsEnable = "HTTPSEnable"
    case httpsProxy = "HTTPSProxy"
    case httpsPort = "HTTPSPort"
    case socksEnable = "SOCKSEnable"
    case socksProxy = "SOCKSProxy"
    case socksPort = "SOCKSPort"
    case exceptions = "ExceptionsList"
    case user = "kCFProxyUsernameKey"
    case password = "kCFProxyPasswordKey"
  }

  /// A value of a supported entry: a number, a string, or an array of strings.
  fileprivate enum Value: Sendable {
    case number(Int)
    case text(String)
    case list([String])

    // A Bool is accepted as a number, as in Apple's Foundation.
    init?(_ value: Any) {
      switch value {
      case let text as String: self = .text(text)
      case let list as [String]: self = .list(list)
      case let flag as Bool: self = .number(flag ? 1 : 0)
      case let number as any BinaryInteger: self = .number(Int(clamping: number))
      case let number as NSNumber: self = .number(number.intValue)
      default: return nil
      }
    }

    var any: Any {
      switch self {
      case .number(let number): number
      case .text(let text): text
      case .list(let list): list
      }
    }
  }

  private var entries: [Key: Value] = [:]
  /// The engine's proxy settings that correspond to the dictionary's entries.
  let settings: ProxySettings

  init(_ values: [AnyHashable: Any]) {
    for (key, value) in values {
      guard let name = key.base as? String, let key = Key(rawValue: name) else { continue }
      entries[key] = Value(value)
    }
    settings = Self.settings(entries)
  }

  /// A dictionary that contains only the supported entries.
  var values: [AnyHashable: Any] {
    Dictionary(uniqueKeysWithValues: entries.map { (AnyHashable($0.key.rawValue), $0.value.any) })
  }

  private static func settings(_ entries: [Key: Value]) -> ProxySettings {
    let socks = proxy(.socks5h, (.socksEnable, .socksProxy, .socksPort), defaultPort: 1080, entries)
    let http = proxy(.http, (.httpEnable, .httpProxy, .httpPort), defaultPort: 80, entries) ?? socks
    let https = proxy(.http, (.httpsEnable, .httpsProxy, .httpsPort), defaultPort: 443, entries) ?? socks
    guard http != nil || https != nil else { return .none }
    return .perScheme(http: http, https: https, bypass: bypass(entries))
  }

  /// Returns the proxy for requests of a scheme, or the error if the dictionary's entries for it are invalid. Returns nil if the
  /// entries don't enable a proxy.
  private static func proxy(
    _ scheme: Proxy.Scheme, _ keys: (isEnabled: Key, host: Key, port: Key), defaultPort: Int, _ entries: [Key: Value]
  ) -> Result<Proxy, ProxyError>? {
    guard let isEnabled = entries[keys.isEnabled]?.number, isEnabled != 0 else { return nil }
    let port = entries[keys.port].map { $0.number ?? 0 } ?? defaultPort
    return Result { () throws(ProxyError) in
      // `Proxy` refuses an empty host and port 0, and throws an error with the reason.
      try Proxy(
        scheme, host: entries[keys.host]?.text ?? "", port: UInt16(exactly: port) ?? 0, user: entries[.user]?.text,
        password: entries[.password]?.text ?? "")
    }
  }

  private static func bypass(_ entries: [Key: Value]) -> ProxyBypass {
    guard case .list(let hosts) = entries[.exceptions] else { return .none }
    return ProxyBypass(hosts.map { $0.hasPrefix("*.") ? String($0.dropFirst(2)) : $0 }.joined(separator: ","))
  }
}

extension ProxyDictionary.Value {
  /// The value as an integer, which may be written as text. Nil if the value isn't an integer.
  fileprivate var number: Int? {
    switch self {
    case .number(let number): number
    case .text(let text): Int(text)
    case .list: nil
    }
  }

  fileprivate var text: String? {
    if case .text(let text) = self { text } else { nil }
  }
}
