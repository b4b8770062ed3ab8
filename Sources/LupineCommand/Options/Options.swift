// Options: the parsed command line as plain values. Parsing reads no file and looks up no name.

import LupineAuthentication
import LupineEngine

/// The action that the command line requests.
enum Invocation: Equatable {
  case transfer(URI, Options)
  case help
  case version
}

/// The settings of a transfer from the command line.
struct Options: Equatable {
  /// The source of the request's body. Texts are as on the command line, including a leading "@", which marks the path of a file.
  enum Payload: Equatable {
    case none
    case data([String])
    case json([String])
    case form([FormField])
    /// A file to upload, or standard input if the path is "-".
    case upload(String)

    /// The request's method unless the user specifies a method.
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
  /// The content coding that compresses the payload, or nil for none.
  var bodyCoding: ContentCoding?
  /// The time to wait for a 100 response before the body is sent, or nil for the engine's default.
  var continueTimeout: Duration?
  var followsRedirects = false

  /// The path of the file for the body, or nil for standard output.
  var outputPath: String?
  var includesHead = false
  var failsOnErrorStatus = false
  /// Whether the command writes the body as received: it requests no content codings, and decodes none.
  var isRaw = false
  /// The folder of the cache's stored responses, or nil to use no cache.
  var cacheFolder: String?
  /// The maximum staleness in seconds of a stored response that may be served, or nil to serve only fresh responses.
  var maxStale: Int?
  var isVerbose = false
  var showsTiming = false
  var showsTrace = false

  /// The login of --user, or nil to use the URL's user information or a netrc file.
  var login: PasswordCredential?
  /// The authentication schemes permitted for the login of the URL's host.
  var schemes = PermittedSchemes()
  /// The OAuth 2.0 token to send in Authorization, or nil to send none.
  var bearerToken: String?
  var netrc = NetrcUse()

  /// The proxy settings. If they name a fixed proxy, they don't include the hosts that bypass the proxy: `bypass` or the
  /// environment specifies these hosts.
  var proxy = ProxySettings.environment
  var proxyLogin: PasswordCredential?
  /// The authentication schemes permitted for the login of the proxy.
  var proxySchemes = PermittedSchemes()
  /// The hosts to which requests are sent without a proxy, or nil to use the environment's list.
  var bypass: String?

  /// The time limit for each of four phases: the address lookup, the connection, the proxy's handshake and the TLS handshake.
  var connectTimeout: Duration?
  /// The time limit for the entire transfer, including redirects, or nil for no limit.
  var maxTime: Duration?
  /// The address overrides of --resolve, in the order of the command line.
  var overrides: [HostOverride] = []
  /// The path of a Unix socket in the engine's notation: an abstract name starts with "@".
  var socketPath: String?
  var socket = SocketOptions()

  /// The path of a PEM file whose certificates replace the system's trust roots, or nil. `trustRootsFolder` is a folder with the
  /// same purpose.
  var trustRootsPath: String?
  var trustRootsFolder: String?
  var skipsVerification = false
  var identity = IdentityFiles()
  /// The TLS versions, ciphers, groups and stapling. The properties above contain the other TLS settings.
  var tls = TLSConfiguration()
}
