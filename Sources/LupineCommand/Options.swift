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
  }

  /// Nil: GET, or POST with a payload.
  var method: String?
  var fieldEdits: [FieldEdit] = []
  var payload = Payload.none
  /// A file for the body; nil is standard output.
  var outputPath: String?
  var includesHead = false
  var isVerbose = false
  var showsTiming = false
  var followsRedirects = false
  var failsOnErrorStatus = false
  /// A PEM file that replaces the system's trust roots.
  var trustRootsPath: String?
  var skipsVerification = false
  /// For each of lookup, connecting and the TLS handshake.
  var connectTimeout: Duration?
  /// For everything, redirects included.
  var maxTime: Duration?
  /// Whether no coding is asked for, and none is undone.
  var isRaw = false
}

/// The options' names, letters and help.
enum OptionName: String, CaseIterable {
  case request, header, data, json, form
  case output, include, verbose, timing
  case location, fail
  case caCertificate = "cacert"
  case insecure
  case connectTimeout = "connect-timeout"
  case maxTime = "max-time"
  case raw, help, version

  /// The short form, as in curl.
  var letter: Unicode.Scalar? {
    switch self {
    case .request: "X"
    case .header: "H"
    case .data: "d"
    case .form: "F"
    case .output: "o"
    case .include: "i"
    case .verbose: "v"
    case .location: "L"
    case .fail: "f"
    case .insecure: "k"
    case .maxTime: "m"
    case .help: "h"
    case .version: "V"
    case .json, .timing, .caCertificate, .connectTimeout, .raw: nil
    }
  }

  /// What the option's value is called in the help; nil if it takes none.
  var valueName: String? {
    switch self {
    case .request: "METHOD"
    case .header: "'NAME: VALUE'"
    case .data, .json: "DATA"
    case .form: "NAME=CONTENT"
    case .output, .caCertificate: "FILE"
    case .connectTimeout, .maxTime: "SECONDS"
    case .include, .verbose, .timing, .location, .fail, .insecure, .raw, .help, .version: nil
    }
  }
}
