// OptionParser: converts the command line to options and checks their combination.

import LupineAuthentication
import LupineEngine

enum OptionParser {
  /// Parses the command's arguments. The first argument is the program's name.
  static func parse(_ arguments: [String]) throws(CommandError) -> Invocation {
    var options = Options()
    var operands: [String] = []
    for token in CommandLineTokens.read(arguments) {
      switch token {
      case .option(.help, _): return .help
      case .option(.version, _): return .version
      case .option(.generate, let kind):
        guard let file = InstalledFile(rawValue: kind) else {
          throw .usage("--generate writes \(InstalledFile.allNames), not \(kind)")
        }
        return .generate(file)
      case .option(let name, let value): try options.apply(name, value)
      case .operand(let text): operands.append(text)
      case .invalid(let reason): throw .usage(reason)
      }
    }
    guard let text = operands.first else { throw .usage("a URL is missing") }
    guard operands.count == 1 else { throw .usage("only one URL is allowed, not \(operands.count)") }
    try options.settle()
    if options.isWebSocket { return .transfer(try uri(httpForm(text)), options) }
    return .transfer(try uri(text, naming: options.payload), options)
  }

  /// Parses a URL of the command line. If it has no scheme, http is used, as in curl.
  static func uri(_ text: String) throws(CommandError) -> URI {
    for scheme in ["http", "https", "ws", "wss"] where isIncomplete(scheme, in: text) {
      // The URL isn't quoted, because it may contain a login.
      throw CommandError(
        .usage, "the URL is invalid: two slashes must follow \"\(scheme):\". Write \(scheme)://HOST/PATH.")
    }
    do {
      return try URI(hasScheme(text) ? text : "http://" + text)
    } catch {
      // A "/", "#", "?" or "\" in a password ends the host early, so that the error would quote a part of the login.
      guard !text.utf8.contains(UInt8(ascii: "@")) else {
        throw .usage("the URL is invalid. Percent-encode special characters of its login, such as %2F, or pass --user")
      }
      // The error's remedy explains the notation.
      throw CommandError(.usage, "the URL is invalid: \(error)")
    }
  }

  /// Parses the URL of the command line. As in curl, if a file is uploaded and the URL's path ends with "/", the file's name is
  /// appended to the URL.
  static func uri(_ text: String, naming payload: Options.Payload) throws(CommandError) -> URI {
    let uri = try uri(text)
    guard case .upload(let path) = payload, path != "-", uri.target.utf8.last == UInt8(ascii: "/"),
      !uri.target.utf8.contains(UInt8(ascii: "?")), uri.fragment == nil
    else { return uri }
    let folder = text.utf8.last == UInt8(ascii: "/") ? text : text + "/"
    let name = path.split(separator: "/").last ?? ""
    return try self.uri(folder + PercentEncoding.encode(name.utf8, keeping: .unreserved))
  }

  /// Returns the http or https URL to which the handshake of a WebSocket with this URL is sent (RFC 6455 §4.1).
  static func httpForm(_ text: String) -> String {
    for scheme in ["ws", "wss"] where text.lowercased().hasPrefix(scheme + "://") {
      return (scheme == "ws" ? "http" : "https") + text.dropFirst(scheme.count)
    }
    return text
  }

  /// Returns a text that begins with an http or https URL with the URL of the WebSocket instead, which the user has written.
  static func webSocketForm(_ text: String) -> String {
    text.hasPrefix("http://") || text.hasPrefix("https://") ? "ws" + text.dropFirst("http".count) : text
  }

  // Whether the text begins with this scheme, but without two slashes. Otherwise the scheme would be read as a host's name, because
  // "host:/x" and "host:" have no scheme, but an empty port.
  private static func isIncomplete(_ scheme: String, in text: String) -> Bool {
    guard text.lowercased().hasPrefix(scheme + ":") else { return false }
    let rest = text.utf8.dropFirst(scheme.utf8.count + 1)
    return rest.isEmpty || (rest.first == UInt8(ascii: "/") && !rest.starts(with: "//".utf8))
  }

  // scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ). "host:80/x" and "host/?u=http://x" have no scheme.
  private static func hasScheme(_ text: String) -> Bool {
    let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
    return text.utf8.dropFirst(scheme.count).starts(with: "://".utf8) && !scheme.isEmpty
      && scheme.allSatisfy(CharacterClass.scheme.contains)
  }
}

extension Options {
  fileprivate mutating func apply(_ name: OptionName, _ value: String) throws(CommandError) {
    switch name {
    case .request: method = value
    case .header: fieldEdits.append(try FieldEdit(value))
    case .data, .json, .form, .uploadFile: try add(value, to: name)
    case .encode: bodyCoding = try OptionValue.coding(value)
    case .location: followsRedirects = true
    case .webSocket: isWebSocket = true
    case .eventStream: isEventStream = true
    case .continueTimeout: continueTimeout = try OptionValue.seconds(value, of: name)
    case .output: outputPath = value == "-" ? nil : value
    case .include: includesHead = true
    case .head: (method, includesHead) = ("HEAD", true)
    case .fail: failsOnErrorStatus = true
    case .raw: isRaw = true
    case .cache: cacheFolder = value
    case .maxStale: maxStale = try OptionValue.staleness(value)
    case .proxy: proxy = value.isEmpty ? .none : .fixed(try OptionValue.proxy(value))
    case .user: login = try OptionValue.login(value, of: name)
    case .basic: schemes.permit(.basic)
    case .digest: schemes.permit(.digest)
    case .ntlm: schemes.permit(.ntlm)
    case .negotiate: schemes.permit(.negotiate)
    case .anyAuth: schemes.permit(.basic, .digest, .ntlm, .negotiate)
    case .bearerToken: bearerToken = try OptionValue.token(value)
    case .netrc: netrc.isRequired = true
    case .netrcOptional: netrc.isOptional = true
    case .netrcFile: netrc.path = value
    case .proxyUser: proxyLogin = try OptionValue.login(value, of: name)
    case .proxyBasic: proxySchemes.permit(.basic)
    case .proxyDigest: proxySchemes.permit(.digest)
    case .proxyNTLM: proxySchemes.permit(.ntlm)
    case .proxyNegotiate: proxySchemes.permit(.negotiate)
    case .proxyAnyAuth: proxySchemes.permit(.basic, .digest, .ntlm, .negotiate)
    case .noProxy: bypass = value
    case .socks5: proxy = .fixed(try OptionValue.proxy(value, scheme: .socks5))
    case .socks5Hostname: proxy = .fixed(try OptionValue.proxy(value, scheme: .socks5h))
    case .connectTimeout: connectTimeout = try OptionValue.seconds(value, of: name)
    case .maxTime: maxTime = try OptionValue.seconds(value, of: name)
    case .resolve: overrides.append(try OptionValue.override(value))
    case .unixSocket: socketPath = try OptionValue.socketPath(value.hasPrefix("@") ? "./" + value : value, of: name)
    case .abstractUnixSocket: socketPath = try OptionValue.socketPath("@" + value, of: name)
    case .interface: setSource(value)
    case .noDelay: socket.noDelay = true
    case .delay: socket.noDelay = false
    case .keepAliveTime: socket.keepAlive = try OptionValue.keepAlive(value)
    case .noKeepAlive: socket.keepAlive = nil
    case .caCertificate: trustRootsPath = value
    case .caPath: trustRootsFolder = value
    case .revocationList: tls.revocationListFile = value
    case .insecure: skipsVerification = true
    case .proxyInsecure: skipsProxyVerification = true
    case .certificate: identity.setCertificate(value)
    case .certificateType: identity.kind = try OptionValue.certificateKind(value)
    case .key: identity.keyPath = value
    case .password: identity.password = value
    case .certificateStatus: tls.ocspStapling = .required
    case .tls12: tls.minimumVersion = .v1_2
    case .tls13: tls.minimumVersion = .v1_3
    case .tlsMax: tls.maximumVersion = try OptionValue.newestVersion(value)
    case .ciphers: tls.cipherList = value
    case .tls13Ciphers: tls.cipherSuites = value.split(separator: ":").map { String($0) }
    case .curves: tls.groups = value.split(separator: ":").map { String($0) }
    case .verbose: isVerbose = true
    case .timing: showsTiming = true
    case .trace: showsTrace = true
    case .generate, .help, .version: preconditionFailure("the parser handles this option")
    }
  }

  private mutating func add(_ text: String, to name: OptionName) throws(CommandError) {
    switch (payload, name) {
    case (.none, .data): payload = .data([text])
    case (.data(let texts), .data): payload = .data(texts + [text])
    case (.none, .json): payload = .json([text])
    case (.json(let texts), .json): payload = .json(texts + [text])
    case (.none, .form): payload = .form([try FormField(text)])
    case (.form(let fields), .form): payload = .form(fields + [try FormField(text)])
    case (.none, .uploadFile): payload = .upload(text)
    case (.upload, .uploadFile): throw .usage("only one --upload-file is allowed; \(text) is another")
    default: throw .usage("--data, --json, --form and --upload-file can't be combined")
    }
  }

  // The last --interface applies, whether it is an address or a name.
  private mutating func setSource(_ text: String) {
    socket.localAddress = SocketAddress(numeric: text, port: 0)
    socket.interface = socket.localAddress == nil ? text : nil
  }

  /// Adds the proxy's login to the proxy, and checks the options that depend on each other. Called after all options have been
  /// parsed.
  fileprivate mutating func settle() throws(CommandError) {
    if let proxyLogin {
      guard case .fixed(let given, _) = proxy else {
        throw .usage(
          "--proxy-user requires --proxy or --socks5; for a proxy of the environment, add the credentials to its URL")
      }
      proxy = .fixed(try OptionValue.proxy(given, login: proxyLogin))
    }
    if login != nil, bearerToken != nil {
      throw .usage("--user and --oauth2-bearer can't be combined; remove one of them")
    }
    if case .fixed = proxy, socketPath != nil {
      throw .usage("a Unix socket can't be combined with a proxy; remove one of the options")
    }
    guard identity.certificatePath != nil || identity == IdentityFiles() else {
      throw .usage("--cert-type, --key and --pass require --cert")
    }
    guard identity.kind != .pkcs12 || identity.keyPath == nil else {
      throw .usage("a P12 file contains its private key; remove --key")
    }
    guard tls.ocspStapling == .ignored || !skipsVerification else {
      throw .usage("--cert-status can't be combined with --insecure; remove one of them")
    }
    guard tls.maximumVersion.map({ $0 >= tls.minimumVersion }) ?? true else {
      throw .usage("--tls-max is below --tlsv1.3, so no TLS version is allowed")
    }
    if maxStale != nil, cacheFolder == nil { throw .usage("--max-stale requires --cache") }
    if isWebSocket, payload != .none || method ?? "GET" != "GET" || cacheFolder != nil {
      throw .usage("--ws can't be combined with a body, another method or --cache; remove one of them")
    }
    if isEventStream, isWebSocket || isRaw || cacheFolder != nil {
      throw .usage("--sse can't be combined with --ws, --raw or --cache; remove one of them")
    }
    if bodyCoding != nil, payload == .none { throw .usage("--encode requires a body") }
  }
}
