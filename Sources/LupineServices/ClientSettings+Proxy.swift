// ClientSettings+Proxy: the proxy of a client and its secrets.

#if Services
  internal import LupineEngine

  extension ClientSettings {
    private static let types = ["http", "https", "socks", "socks5", "socks5h", "socks4a"]

    /// Reads the proxy. The password, other credentials and the fields for CONNECT are secrets.
    mutating func readProxy(_ settings: SettingReader, _ authorization: SettingReader) throws(SettingError) {
      guard let isEnabled = try settings.bool("enabled") else { return }
      guard isEnabled else {
        engine.proxy = .none
        return
      }
      let type = try settings.choice("type", Self.types) ?? "http"
      // In AsyncHTTPClient, the proxy looks up names.
      let scheme = Proxy.Scheme(rawValue: type == "socks" ? "socks5h" : type) ?? .http
      let host = try settings.requiredString("host", "the proxy's name or address")
      let port = try settings.integer("port", 1...65_535)
      // Port 1080 is the default for an HTTP proxy in curl only.
      if port == nil, scheme == .http {
        throw settings.refusal("port", .nothing, "the port of the HTTP proxy, an integer from 1 to 65535")
      }
      let login = try Self.login(authorization)
      if !scheme.speaksHTTP, login.value != nil {
        throw authorization.refusal(
          "scheme", .value(login.scheme), "\"basic\" with username and password, because \(type) sends nothing else")
      }
      var proxy: Proxy
      do {
        proxy = try Proxy(
          scheme, host: host, port: port.map { UInt16($0) }, user: login.user, password: login.password)
      } catch {
        switch error.cause {
        case .malformedHost: throw settings.refusal("host", .value(host), "a name or an address")
        default: throw authorization.refusal("username", .secret, "a login for \(type): \(error)")
        }
      }
      proxy.authorization = login.value
      proxy.connectFields = try Self.connectFields(settings, isPermitted: scheme.speaksHTTP)
      engine.proxy = .fixed(proxy)
    }

    /// The credentials for the proxy: a user name and a password, or the value of Proxy-Authorization.
    private struct Login {
      var scheme = ""
      var user: String?
      var password = ""
      var value: String?
    }

    private static func login(_ settings: SettingReader) throws(SettingError) -> Login {
      var login = Login()
      guard let scheme = try settings.choice("scheme", ["basic", "bearer"]) else { return login }
      login.scheme = scheme
      if scheme == "bearer" {
        let token = try settings.requiredString("token", "the proxy's token", isSecret: true)
        login.value = try "Bearer " + checked(token, settings, "token")
        return login
      }
      if let user = try settings.string("username"),
        let password = try settings.string("password", isSecret: true)
      {
        (login.user, login.password) = (user, password)
        return login
      }
      let credentials = try settings.requiredString(
        "credentials", "the Base64 form of user:password, or set both username and password", isSecret: true)
      login.value = try "Basic " + checked(credentials, settings, "credentials")
      return login
    }

    /// Returns the secret if it can be sent in a field. token68 of RFC 9110 §11.2 is a subset of these characters.
    private static func checked(
      _ secret: String, _ settings: SettingReader, _ key: String
    ) throws(SettingError) -> String {
      guard !secret.isEmpty, secret.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
        throw settings.refusal(key, .secret, "visible ASCII characters without spaces")
      }
      return secret
    }

    private static func connectFields(_ settings: SettingReader, isPermitted: Bool) throws(SettingError) -> Fields {
      var fields = Fields()
      for entry in try settings.strings("connectHeaders", isSecret: true) ?? [] {
        guard isPermitted else {
          throw settings.refusal("connectHeaders", .secret, "nothing, because only HTTP proxies receive fields")
        }
        let parts = entry.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
        guard parts.count == 2, isValid(name: parts[0], value: parts[1]) else {
          throw settings.refusal("connectHeaders", .secret, "entries of the form \"Name: value\"")
        }
        fields.append(name: parts[0], value: parts[1])
      }
      return fields
    }

    private static func isValid(name: String, value: String) -> Bool {
      var bytes: [UInt8] = []
      let head = RequestHead(method: "CONNECT", target: "/", fields: [name: value])
      return (try? HeadSerializer.append(head, to: &bytes)) != nil
    }

    private static func trimmed(_ text: Substring) -> String {
      let isBlank = { (character: Character) in character == " " || character == "\t" }
      let rest = text.drop(while: isBlank)
      return String(rest.reversed().drop(while: isBlank).reversed())
    }
  }
#endif
