// What the command line asks for, as plain values: nothing is read, opened or looked up here.

import LupineEngine

/// What the command is to do.
enum Invocation: Equatable {
  case transfer(URI, Options)
  case help
  case version
}

/// How a transfer is done.
struct Options: Equatable {
  /// What is sent as the body; the texts are as they were given, with their "@".
  enum Payload: Equatable {
    case none
    case data([String])
    case json([String])
    case form([FormField])
    /// A file, or standard input if it is "-".
    case upload(String)

    /// The method unless another is given.
    var method: String {
      switch self {
      case .none: "GET"
      case .data, .json, .form: "POST"
      case .upload: "PUT"
      }
    }
  }

  /// Nil: the payload's.
  var method: String?
  var fieldEdits: [FieldEdit] = []
  var payload = Payload.none
  /// What compresses the payload.
  var bodyCoding: ContentCoding?
  /// How long a body waits for leave; nil is the engine's default.
  var continueTimeout: Duration?
  var followsRedirects = false

  /// A file for the body; nil is standard output.
  var outputPath: String?
  var includesHead = false
  var failsOnErrorStatus = false
  /// Whether no coding is asked for, and none is undone.
  var isRaw = false
  var isVerbose = false
  var showsTiming = false
  var showsTrace = false

  /// A fixed one has no exceptions yet: they come from `bypass` or the environment.
  var proxy = ProxySettings.environment
  var proxyLogin: ProxyLogin?
  /// Hosts that are reached without a proxy, in place of what the environment lists.
  var bypass: String?

  /// For each of lookup, connecting, a proxy's handshake and TLS's.
  var connectTimeout: Duration?
  /// For everything, redirects included.
  var maxTime: Duration?
  /// In the order in which they were given.
  var overrides: [HostOverride] = []
  /// In the engine's notation, with "@" before an abstract name.
  var socketPath: String?
  var socket = SocketOptions()

  /// A PEM file, and a folder, that replace the system's trust roots.
  var trustRootsPath: String?
  var trustRootsFolder: String?
  var skipsVerification = false
  var identity = IdentityFiles()
  /// Versions, ciphers, groups and stapling; the rest is above.
  var tls = TLSConfiguration()
}

/// The value of --proxy-user.
struct ProxyLogin: Equatable {
  let user: String
  let password: String
}
