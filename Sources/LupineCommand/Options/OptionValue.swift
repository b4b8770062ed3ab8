// OptionValue: parses option values that have a special format, such as durations, proxies and TLS versions.

import LupineAuthentication
import LupineCache
import LupineEngine

enum OptionValue {
  /// The maximum number of digits before the decimal point in an option's number of seconds: 9, which is 31 years.
  static let secondsDigitsMax = 9
  /// The range in seconds that Linux accepts for the time until a keep-alive probe (TCP_KEEPIDLE, tcp(7)).
  static let keepAliveSeconds = 1...32_767

  /// Parses an option's value as a decimal number of seconds above zero. Ignores digits beyond nanoseconds.
  static func seconds(_ text: String, of option: OptionName) throws(CommandError) -> Duration {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let whole = parts[0]
    let fraction = parts.count > 1 ? parts[1] : ""[...].utf8
    let isNumber = (whole.count + fraction.count) > 0 && (Array(whole) + fraction).allSatisfy { $0 &- 0x30 < 10 }
    guard isNumber, whole.count <= secondsDigitsMax else {
      throw .usage("--\(option.rawValue) takes a number of seconds such as 2.5, not \"\(text)\"")
    }
    func number(_ digits: some Sequence<UInt8>) -> Int64 { digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
    let nanoseconds = number(Array((Array(fraction.prefix(9)) + Array(repeating: 0x30, count: 9)).prefix(9)))
    let duration = Duration.seconds(number(whole)) + .nanoseconds(nanoseconds)
    guard duration > .zero else { throw .usage("--\(option.rawValue) must be greater than 0 seconds") }
    return duration
  }

  /// Parses the value of --max-stale, a number of seconds.
  static func staleness(_ text: String) throws(CommandError) -> Int {
    guard let seconds = number(text, in: 0...Int(CacheLimits.deltaSecondsMax)) else {
      throw .usage("--max-stale takes 0 to \(CacheLimits.deltaSecondsMax) whole seconds, not \"\(text)\"")
    }
    return seconds
  }

  /// Parses the value of --keepalive-time. As in curl, it sets both the time before the first probe and the time between probes.
  static func keepAlive(_ text: String) throws(CommandError) -> SocketOptions.KeepAlive {
    guard let seconds = number(text, in: keepAliveSeconds) else {
      throw .usage("--keepalive-time takes 1 to 32767 whole seconds, not \"\(text)\"")
    }
    return SocketOptions.KeepAlive(idle: .seconds(seconds), interval: .seconds(seconds))
  }

  /// Parses the value of --resolve, HOST:PORT:ADDRESS[,ADDRESS]... An IPv6 address may be in brackets.
  static func override(_ text: String) throws(CommandError) -> HostOverride {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !"+-[".contains(parts[0].first ?? "+"),
      let port = number(parts[1], in: 1...65_535)
    else { throw .usage("--resolve takes HOST:PORT:ADDRESS, not \"\(text)\"") }
    guard SocketAddress(numeric: String(parts[0]), port: 0) == nil else {
      throw .usage("--resolve needs a host name, and \(parts[0]) is an address")
    }
    var addresses: [SocketAddress] = []
    for part in parts[2].split(separator: ",", omittingEmptySubsequences: false) {
      let isBracketed = part.first == "[" && part.last == "]" && part.contains(":")
      guard let address = SocketAddress(numeric: String(isBracketed ? part.dropFirst().dropLast() : part), port: 0)
      else { throw .usage("\"\(part)\" in --resolve isn't an address") }
      addresses.append(address)
    }
    return HostOverride(host: String(parts[0]), port: UInt16(port), addresses: addresses)
  }

  /// Checks the path of a Unix socket, and returns it. The socket may be abstract ("@name"). Throws a `CommandError` with the code
  /// `.usage` if the path is invalid.
  static func socketPath(_ path: String, of option: OptionName) throws(CommandError) -> String {
    guard SocketAddress(socketPath: path) != nil else {
      throw .usage("--\(option.rawValue) takes 1 to \(SocketAddress.socketPathBytesMax) bytes")
    }
    return path
  }

  /// Parses the URL of a proxy. If `scheme` is given, `text` is only the part of the URL after the scheme.
  static func proxy(_ text: String, scheme: Proxy.Scheme? = nil) throws(CommandError) -> Proxy {
    // A second scheme would be parsed as a host.
    guard scheme == nil || !text.contains("://") else {
      throw .usage("the options for SOCKS proxies take HOST:PORT; to use a URL, pass --proxy")
    }
    do throws(ProxyError) {
      return try Proxy((scheme.map { $0.rawValue + "://" } ?? "") + text)
    } catch {
      throw CommandError(.usage, error.description)
    }
  }

  /// Returns a copy of `proxy` to which the user name and password in `login` have been added.
  static func proxy(_ proxy: Proxy, login: PasswordCredential) throws(CommandError) -> Proxy {
    do throws(ProxyError) {
      return try Proxy(
        proxy.scheme, host: proxy.host, port: proxy.port, user: login.user, password: login.password)
    } catch {
      throw CommandError(.usage, error.description)
    }
  }

  /// Parses an option's value USER:PASSWORD, which has no escapes. Both parts may be empty. Error messages don't repeat the value.
  static func login(_ text: String, of option: OptionName) throws(CommandError) -> PasswordCredential {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw .usage("--\(option.rawValue) takes USER:PASSWORD") }
    return PasswordCredential(user: String(parts[0]), password: String(parts[1]))
  }

  /// Checks the syntax of an OAuth 2.0 token, and returns the token. Error messages don't repeat it.
  static func token(_ text: String) throws(CommandError) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .usage("--oauth2-bearer takes a token of visible ASCII characters")
    }
    return text
  }

  static func coding(_ name: String) throws(CommandError) -> ContentCoding {
    guard let coding = ContentCoding(name: name) else {
      throw .usage("--encode takes one of \(ContentCoding.allNames), not \"\(name)\"")
    }
    return coding
  }

  static func certificateKind(_ name: String) throws(CommandError) -> IdentityFiles.Kind {
    guard let kind = IdentityFiles.Kind(rawValue: name.uppercased()) else {
      throw .usage("--cert-type takes PEM or P12, not \"\(name)\"")
    }
    return kind
  }

  /// Parses the value of --tls-max. Nil means the newest TLS version available.
  static func newestVersion(_ text: String) throws(CommandError) -> TLSVersion? {
    switch text {
    case "default": return nil
    case "1.2": return .v1_2
    case "1.3": return .v1_3
    case "1.0", "1.1": throw .usage("TLS \(text) isn't supported (RFC 8996); --tls-max takes 1.2, 1.3 or default")
    default: throw .usage("--tls-max takes 1.2, 1.3 or default, not \"\(text)\"")
    }
  }

  private static func number(_ text: some StringProtocol, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Int(text), range.contains(number) else { return nil }
    return number
  }
}
