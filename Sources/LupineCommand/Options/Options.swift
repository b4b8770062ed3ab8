// Options: the parsed command line as plain values. No file is read and no name looked up for them.

import LupineEngine

/// The action of the command.
enum Invocation: Equatable {
  case transfer(URI, Options)
  case help
  case version
}

/// The settings of a transfer.
struct Options: Equatable {
  /// The source of the body. Texts are as given, including a leading "@".
  enum Payload: Equatable {
    case none
    case data([String])
    case json([String])
    case form([FormField])
    /// A file to upload, or standard input if the path is "-".
    case upload(String)

    /// The method if no other one is given.
    var method: String {
      switch self {
      case .none: "GET"
      case .data, .json, .form: "POST"
      case .upload: "PUT"
      }
    }
  }

  /// The method, or nil for that of the payload.
  var method: String?
  var fieldEdits: [FieldEdit] = []
  var payload = Payload.none
  /// The content coding that compresses the payload, or nil for none.
  var bodyCoding: ContentCoding?
  /// The time for which a body waits for a 100 response, or nil for the engine's default.
  var continueTimeout: Duration?
  var followsRedirects = false

  /// The path of the file for the body, or nil for standard output.
  var outputPath: String?
  var includesHead = false
  var failsOnErrorStatus = false
  /// Whether content codings are neither requested nor decoded.
  var isRaw = false
  var isVerbose = false
  var showsTiming = false
  var showsTrace = false

  /// The proxy. A fixed proxy has no exceptions here; they are added from `bypass` or the environment.
  var proxy = ProxySettings.environment
  var proxyLogin: ProxyLogin?
  /// The hosts that are reached without a proxy, instead of the environment's list.
  var bypass: String?

  /// The limit for each of the lookup, the connection, the proxy's handshake and the TLS handshake.
  var connectTimeout: Duration?
  /// The limit for the entire transfer, including redirects.
  var maxTime: Duration?
  /// The overrides in the order of their options.
  var overrides: [HostOverride] = []
  /// The path of a Unix socket in the engine's notation: an abstract name starts with "@".
  var socketPath: String?
  var socket = SocketOptions()

  /// The PEM file and the folder that replace the system's trust roots.
  var trustRootsPath: String?
  var trustRootsFolder: String?
  var skipsVerification = false
  var identity = IdentityFiles()
  /// The TLS versions, ciphers, groups and stapling. The properties above have the other TLS settings.
  var tls = TLSConfiguration()
}

/// The value of --proxy-user.
struct ProxyLogin: Equatable {
  let user: String
  let password: String
}
