// OptionName: the table of options with their names, letters, values and help, in the order of the help.

import LupineEngine

/// The long names of the command's options.
enum OptionName: String, CaseIterable {
  case request, header, data, json, form
  case uploadFile = "upload-file"
  case encode, location
  case webSocket = "ws"
  case eventStream = "sse"
  case continueTimeout = "expect100-timeout"

  case output, include, head, fail, raw, cache
  case maxStale = "max-stale"

  case user, basic, digest, ntlm, negotiate
  case anyAuth = "anyauth"
  case bearerToken = "oauth2-bearer"
  case netrc
  case netrcOptional = "netrc-optional"
  case netrcFile = "netrc-file"

  case proxy
  case proxyUser = "proxy-user"
  case proxyBasic = "proxy-basic"
  case proxyDigest = "proxy-digest"
  case proxyNTLM = "proxy-ntlm"
  case proxyNegotiate = "proxy-negotiate"
  case proxyAnyAuth = "proxy-anyauth"
  case proxyInsecure = "proxy-insecure"
  case noProxy = "noproxy"
  case socks5
  case socks5Hostname = "socks5-hostname"

  case connectTimeout = "connect-timeout"
  case maxTime = "max-time"
  case resolve
  case unixSocket = "unix-socket"
  case abstractUnixSocket = "abstract-unix-socket"
  case interface
  case noDelay = "tcp-nodelay"
  case delay = "no-tcp-nodelay"
  case keepAliveTime = "keepalive-time"
  case noKeepAlive = "no-keepalive"

  case caCertificate = "cacert"
  case caPath = "capath"
  case revocationList = "crlfile"
  case insecure
  case certificate = "cert"
  case certificateType = "cert-type"
  case key
  case password = "pass"
  case certificateStatus = "cert-status"
  case tls12 = "tlsv1.2"
  case tls13 = "tlsv1.3"
  case tlsMax = "tls-max"
  case ciphers
  case tls13Ciphers = "tls13-ciphers"
  case curves

  case verbose, timing, trace, generate, help, version

  /// The description of a command-line option: its short form, its value and its help text.
  struct Form {
    /// The letter of the option's short form, as in curl, or nil if it has none.
    let letter: Unicode.Scalar?
    /// The name of the option's value in the help, or nil if the option takes no value.
    let valueName: String?
    /// The lines of the option's help text, at least one.
    let summary: [String]

    /// Returns the help text of the option `name`. `hasLetters` is whether any option of the command has a letter.
    func help(_ name: String, hasLetters: Bool = true) -> String {
      let start = letter.map { "-\($0), " } ?? (hasLetters ? "    " : "")
      let form = "  \(start)--\(name)" + (valueName.map { " \($0)" } ?? "")
      let lineStart = "\n" + "".padded(to: 28)
      // A form that is too long for its column gets a separate line.
      return form.padded(to: 28) + (form.count < 28 ? "" : lineStart) + summary.joined(separator: lineStart) + "\n"
    }
  }

  var letter: Unicode.Scalar? { form.letter }
  var valueName: String? { form.valueName }

  var form: Form {
    switch self {
    case .request: Form("X", "METHOD", "the method; GET by default if there is no body")
    case .header:
      Form("H", "'NAME: VALUE'", "sends a field; \"Name;\" sends it empty, \"Name:\" omits a default")
    case .data:
      Form(
        "d", "DATA", "posts form data; repeated values are joined by \"&\"; @FILE reads a file,",
        "without its line breaks")
    case .json: Form(nil, "DATA", "posts JSON; @FILE reads a file")
    case .form:
      Form(
        "F", "NAME=CONTENT", "posts a multipart form; NAME=@FILE sends a file, with ;type=TYPE and",
        ";filename=NAME after it; NAME=<FILE sends a file's content as text")
    case .uploadFile:
      Form(
        "T", "FILE", "puts a file; \"-\" streams standard input; the file's name is appended to a URL",
        "that ends with \"/\"")
    case .encode:
      Form(nil, "CODING", "compresses the request body: \(ContentCoding.allNames); the server must support it")
    case .location: Form("L", nil, "follows up to 20 redirects")
    case .webSocket:
      Form(
        nil, nil, "opens a WebSocket, sends the lines of standard input as messages, and prints received",
        "messages; -v shows frames")
    case .eventStream: Form(nil, nil, "prints each event of an event stream as a line of JSON")
    case .continueTimeout:
      Form(nil, "SECONDS", "the time that -H 'Expect: 100-continue' delays the body; 1 by default")

    case .output: Form("o", "FILE", "writes the body to a file; \"-\" is standard output")
    case .include: Form("i", nil, "writes the response head before the body")
    case .head: Form("I", nil, "sends a HEAD request, and writes the response head")
    case .fail: Form("f", nil, "exits with 22 and writes no body if the status code is 400 or more")
    case .raw: Form(nil, nil, "requests no content coding, and doesn't decode the body")

    case .cache:
      Form(
        nil, "FOLDER", "stores responses in a folder of up to 256 MiB, and serves them while they are fresh;",
        "-v says hit, revalidated or miss, and why")
    case .maxStale: Form(nil, "SECONDS", "with --cache, accepts responses that have been stale for so long")

    case .user:
      Form("u", "USER:PASSWORD", "the login for the URL's host; replaces that of the URL and of a netrc file")
    case .basic: Form(nil, nil, "sends the password itself; the default for a login")
    case .digest: Form(nil, nil, "answers a Digest challenge, without sending the password")
    case .ntlm: Form(nil, nil, "uses NTLMv2, on a dedicated connection")
    case .negotiate: Form(nil, nil, "uses the Kerberos ticket of kinit; pass any login, such as -u :")
    case .anyAuth: Form(nil, nil, "sends no login before the server's challenge, and uses its strongest scheme")
    case .bearerToken: Form(nil, "TOKEN", "sends an OAuth 2.0 token to the URL's host")
    case .netrc: Form("n", nil, "reads the login for the host from ~/.netrc, which must exist")
    case .netrcOptional: Form(nil, nil, "the same, if ~/.netrc exists and the URL has no login")
    case .netrcFile: Form(nil, "FILE", "reads this file instead of ~/.netrc")

    case .proxy:
      Form(
        "x", "URL", "uses the proxy [SCHEME://][USER:PASSWORD@]HOST[:1080] with the scheme http, https,",
        "socks4a, socks5 or socks5h; \"\" disables the environment's proxies")
    case .proxyUser: Form("U", "USER:PASSWORD", "the credentials for the proxy of --proxy or --socks5")
    case .proxyBasic: Form(nil, nil, "sends the proxy the password itself; the default for a login")
    case .proxyDigest: Form(nil, nil, "answers the proxy's Digest challenge")
    case .proxyNTLM: Form(nil, nil, "uses NTLMv2 with the proxy")
    case .proxyNegotiate: Form(nil, nil, "uses the Kerberos ticket of kinit with the proxy; pass any login")
    case .proxyAnyAuth: Form(nil, nil, "sends the proxy no login before its challenge, and uses its strongest scheme")
    case .proxyInsecure: Form(nil, nil, "doesn't verify an https proxy: an attacker can read its credentials")
    case .noProxy: Form(nil, "LIST", "hosts to connect to directly; \"*\" means all; replaces NO_PROXY")
    case .socks5: Form(nil, "HOST[:PORT]", "uses a SOCKS 5 proxy; host names are resolved locally")
    case .socks5Hostname: Form(nil, "HOST[:PORT]", "uses a SOCKS 5 proxy, which resolves host names")

    case .connectTimeout:
      Form(nil, "SECONDS", "the limit for each of lookup, connect, proxy and TLS; fractions allowed")
    case .maxTime: Form("m", "SECONDS", "the limit for the entire request; fractions allowed")
    case .resolve: Form(nil, "HOST:PORT:ADDRESS,...", "addresses to use instead of a lookup; HOST \"*\" is any")
    case .unixSocket: Form(nil, "PATH", "connects to a Unix socket instead of the host")
    case .abstractUnixSocket: Form(nil, "NAME", "connects to an abstract Unix socket instead of the host")
    case .interface: Form(nil, "NAME", "the network interface or local address for connections")
    case .noDelay: Form(nil, nil, "sends small writes immediately; the default")
    case .delay: Form(nil, nil, "combines small writes (Nagle's algorithm)")
    case .keepAliveTime: Form(nil, "SECONDS", "the time before and between keep-alive probes; 15 by default")
    case .noKeepAlive: Form(nil, nil, "sends no keep-alive probes")

    case .caCertificate: Form(nil, "FILE", "trusts the PEM certificates of a file instead of the system's")
    case .caPath: Form(nil, "FOLDER", "trusts those of a folder prepared by `openssl rehash` instead")
    case .revocationList: Form(nil, "FILE", "refuses certificates that the revocation lists of a PEM file revoke")
    case .insecure:
      Form("k", nil, "doesn't verify the server: an attacker can read and change all data")
    case .certificate:
      Form("E", "FILE[:PASSWORD]", "sends a client certificate; escape a colon in the name by a backslash")
    case .certificateType: Form(nil, "TYPE", "the format of --cert: PEM, the default, or P12 (PKCS#12)")
    case .key: Form(nil, "FILE", "the certificate's private key in PEM, if it isn't in the same file")
    case .password: Form(nil, "PASSWORD", "the password of the private key")
    case .certificateStatus: Form(nil, nil, "requires the server to staple a valid OCSP response")
    case .tls12: Form(nil, nil, "uses TLS 1.2 or later; the default")
    case .tls13: Form(nil, nil, "uses TLS 1.3 or later")
    case .tlsMax: Form(nil, "VERSION", "the latest TLS version: 1.2, 1.3 or default")
    case .ciphers: Form(nil, "LIST", "the ciphers for TLS 1.2 in OpenSSL's notation")
    case .tls13Ciphers: Form(nil, "LIST", "the cipher suites for TLS 1.3, separated by colons")
    case .curves: Form(nil, "LIST", "the groups for the key exchange, such as X25519:P-256")

    case .verbose: Form("v", nil, "writes heads and connections to standard error, without credentials")
    case .timing: Form(nil, nil, "writes the duration of each phase to standard error")
    case .trace: Form(nil, nil, "writes the engine's steps to standard error (differs from curl's option)")
    case .generate:
      Form(nil, "KIND", "writes the manual page or the completions of a shell: \(InstalledFile.allNames)")
    case .help: Form("h", nil, "shows this help")
    case .version: Form("V", nil, "shows the version")
    }
  }

  /// The headline that the help prints above the option, or nil if the option doesn't start a group.
  var headline: String? {
    switch self {
    case .request: "Request"
    case .output: "Response"
    case .user: "Login"
    case .proxy: "Proxy"
    case .connectTimeout: "Connection"
    case .caCertificate: "TLS"
    case .verbose: "Reports"
    default: nil
    }
  }
}

extension OptionName.Form {
  init(_ letter: Unicode.Scalar?, _ valueName: String?, _ summary: String...) {
    self.init(letter: letter, valueName: valueName, summary: summary)
  }
}
