// OptionName: the table of options with their names, letters, values and help, in the order of the help.

/// The names of the options.
enum OptionName: String, CaseIterable {
  case request, header, data, json, form
  case uploadFile = "upload-file"
  case encode, location
  case continueTimeout = "expect100-timeout"

  case output, include, fail, raw

  case proxy
  case proxyUser = "proxy-user"
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

  case verbose, timing, trace, help, version

  /// The notation and the help of an option.
  struct Form {
    /// The letter of the short form, as in curl, or nil if there is none.
    let letter: Unicode.Scalar?
    /// The name of the option's value in the help, or nil if the option takes no value.
    let valueName: String?
    /// The lines of the help, at least one.
    let summary: [String]

    init(_ letter: Unicode.Scalar?, _ valueName: String?, _ summary: String...) {
      (self.letter, self.valueName, self.summary) = (letter, valueName, summary)
    }
  }

  var letter: Unicode.Scalar? { form.letter }
  var valueName: String? { form.valueName }

  var form: Form {
    switch self {
    case .request: Form("X", "METHOD", "the method; GET unless a body is given")
    case .header:
      Form("H", "'NAME: VALUE'", "sends a field; \"Name;\" sends it empty, \"Name:\" leaves a default out")
    case .data:
      Form(
        "d", "DATA", "posts a form's data; several are joined by \"&\"; @FILE reads a file,",
        "without its line ends")
    case .json: Form(nil, "DATA", "posts JSON; @FILE reads a file")
    case .form:
      Form(
        "F", "NAME=CONTENT", "posts a multipart form; NAME=@FILE sends a file, with ;type=TYPE and",
        ";filename=NAME behind it; NAME=<FILE sends a file's content as text")
    case .uploadFile:
      Form(
        "T", "FILE", "puts a file; \"-\" sends standard input as it comes; a URL that ends with \"/\"",
        "gets the file's name")
    case .encode:
      Form(nil, "CODING", "compresses the body: gzip, deflate or br; ask your server (curl has no such option)")
    case .location: Form("L", nil, "follows up to 20 redirects")
    case .continueTimeout:
      Form(nil, "SECONDS", "how long -H 'Expect: 100-continue' holds the body back; 1 by default")

    case .output: Form("o", "FILE", "writes the body to a file; \"-\" is standard output")
    case .include: Form("i", nil, "writes the response's head before the body")
    case .fail: Form("f", nil, "ends with status 22 and no body if the response's status is 400 or more")
    case .raw: Form(nil, nil, "asks for no content coding, and undoes none")

    case .proxy:
      Form(
        "x", "URL", "goes through [http|socks5|socks5h://][USER:PASSWORD@]HOST[:1080]; \"\" for none,",
        "whatever the environment says")
    case .proxyUser: Form("U", "USER:PASSWORD", "for the proxy that is given by option")
    case .noProxy: Form(nil, "LIST", "hosts that are reached directly; \"*\" is all; in place of NO_PROXY")
    case .socks5: Form(nil, "HOST[:PORT]", "goes through a SOCKS 5 proxy; names are looked up here")
    case .socks5Hostname: Form(nil, "HOST[:PORT]", "goes through a SOCKS 5 proxy, which looks names up")

    case .connectTimeout:
      Form(nil, "SECONDS", "for each of lookup, connecting, proxy and TLS handshake; fractions allowed")
    case .maxTime: Form("m", "SECONDS", "for everything; fractions allowed")
    case .resolve: Form(nil, "HOST:PORT:ADDRESS,...", "addresses to use in place of a lookup; HOST \"*\" is any")
    case .unixSocket: Form(nil, "PATH", "connects to a Unix socket, whatever the host")
    case .abstractUnixSocket: Form(nil, "NAME", "the same for an abstract socket")
    case .interface: Form(nil, "NAME", "the network interface, or the address, that connections leave from")
    case .noDelay: Form(nil, nil, "sends small writes at once; the default")
    case .delay: Form(nil, nil, "lets small writes wait for each other (Nagle's algorithm)")
    case .keepAliveTime: Form(nil, "SECONDS", "until the first keep-alive probe, and between two; 15 by default")
    case .noKeepAlive: Form(nil, nil, "sends no keep-alive probes")

    case .caCertificate: Form(nil, "FILE", "trusts the PEM certificates of a file, in place of the system's")
    case .caPath: Form(nil, "FOLDER", "trusts those of a folder that `openssl rehash` prepared, likewise")
    case .insecure:
      Form("k", nil, "doesn't verify the server: anybody on the way can read and change what is sent")
    case .certificate:
      Form("E", "FILE[:PASSWORD]", "shows a client certificate; a backslash goes before a colon in the name")
    case .certificateType: Form(nil, "TYPE", "what --cert is: PEM, the default, or P12 (PKCS#12)")
    case .key: Form(nil, "FILE", "the certificate's private key in PEM, if it isn't in the same file")
    case .password: Form(nil, "PASSWORD", "opens the private key")
    case .certificateStatus: Form(nil, nil, "demands an OCSP response with the server's certificate")
    case .tls12: Form(nil, nil, "TLS 1.2 or later; the default")
    case .tls13: Form(nil, nil, "TLS 1.3 or later")
    case .tlsMax: Form(nil, "VERSION", "the latest TLS version: 1.2, 1.3 or default")
    case .ciphers: Form(nil, "LIST", "TLS 1.2's ciphers in OpenSSL's notation")
    case .tls13Ciphers: Form(nil, "LIST", "TLS 1.3's cipher suites, separated by colons")
    case .curves: Form(nil, "LIST", "groups for the key exchange, such as X25519:P-256")

    case .verbose: Form("v", nil, "shows heads and connections on standard error, without credentials")
    case .timing: Form(nil, nil, "shows what took how long on standard error")
    case .trace: Form(nil, nil, "shows the engine's steps on standard error as they happen (curl's is another)")
    case .help: Form("h", nil, "shows this")
    case .version: Form("V", nil, "shows the version")
    }
  }

  /// The headline above the option in the help, if the option starts a group.
  var headline: String? {
    switch self {
    case .request: "Request"
    case .output: "Response"
    case .proxy: "Proxy"
    case .connectTimeout: "Connection"
    case .caCertificate: "TLS"
    case .verbose: "Reports"
    default: nil
    }
  }
}
