// Options: the parsed command line as plain values. Parsing reads no file and looks up no name.

import LupineAuthentication
import LupineEngine

/// The action that the command line requests.
enum Invocation: Equatable {
  case transfer(URI, Options)
  case generate(InstalledFile)
  case help
  case version
}

/// The settings of a transfer, as given on the command line.
struct Options: Equatable {
  /// The source of the request's body. The associated texts are as on the command line, including a leading "@", which marks the
  /// path of a file.
  enum Payload: Equatable {
    case none
    case data([String])
    case json([String])
    case form([FormField])
    /// The path of a file to upload, or "-" for standard input.
    case upload(String)

    /// The request method for this payload, unless the user specifies another method.
    var method: String {
      switch self {
      case .none: "GET"
      case .data, .json, .form: "POST"
      case .upload: "PUT"
      }
    }
  }

  /// The method that the user has specified, or nil to use the payload's method.
  var method: String?
  var fieldEdits: [FieldEdit] = []
  var payload = Payload.none
  /// The content coding with which the command compresses the request body, or nil for none.
  var bodyCoding: ContentCoding?
  /// The time to wait for a 100 (Continue) response before the body is sent, or nil for the engine's default.
  var continueTimeout: Duration?
  var followsRedirects = false
  /// Whether the command opens a WebSocket connection (RFC 6455).
  var isWebSocket = false
  /// Whether the command prints the events of an event stream (WHATWG HTML, "Server-sent events").
  var isEventStream = false

  /// The path of the file to which the response's body is written, or nil for standard output.
  var outputPath: String?
  var includesHead = false
  var failsOnErrorStatus = false
  /// Whether the command writes the response's body as received: it requests no content codings, and decodes none.
  var isRaw = false
  /// The path of the folder in which the cache stores responses, or nil to use no cache.
  var cacheFolder: String?
  /// The maximum staleness, in seconds, of a stored response that the cache may serve. Nil to serve only fresh responses.
  var maxStale: Int?
  var isVerbose = false
  var showsTiming = false
  var showsTrace = false

  /// The user name and password of --user, or nil to use the URL's user information or a netrc file.
  var login: PasswordCredential?
  /// The authentication schemes with which the command may send the login to the URL's host.
  var schemes = PermittedSchemes()
  /// The OAuth 2.0 token to send in the Authorization field, or nil to send none.
  var bearerToken: String?
  var netrc = NetrcUse()

  /// The proxy settings. If they contain a fixed proxy, they don't contain the hosts that bypass this proxy: those are in `bypass`
  /// or in the environment.
  var proxy = ProxySettings.environment
  var proxyLogin: PasswordCredential?
  /// The authentication schemes with which the command may send the login to the proxy.
  var proxySchemes = PermittedSchemes()
  /// The hosts to which requests are sent without a proxy, or nil to use the list in the environment.
  var bypass: String?

  /// The time limit for each of four phases: the address lookup, the connection, the proxy's handshake and the TLS handshake. Nil
  /// for the engine's defaults.
  var connectTimeout: Duration?
  /// The time limit for the entire transfer, including redirects, or nil for no limit.
  var maxTime: Duration?
  /// The address overrides of --resolve, in the order of the command line.
  var overrides: [HostOverride] = []
  /// The path of a Unix socket in the engine's notation: an abstract name starts with "@".
  var socketPath: String?
  var socket = SocketOptions()

  /// The path of a PEM file whose certificates replace the system's trust roots, or nil. `trustRootsFolder` is the path of a folder
  /// with the same purpose.
  var trustRootsPath: String?
  var trustRootsFolder: String?
  var skipsVerification = false
  var skipsProxyVerification = false
  var identity = IdentityFiles()
  /// The TLS versions, ciphers, groups and OCSP stapling. The other TLS settings are in the properties above.
  var tls = TLSConfiguration()
}
