// IdentityFiles: the client certificate of the options --cert, --cert-type, --key and --pass.

import LupineEngine

/// The paths of a client's certificate and private key, and how to read the files.
struct IdentityFiles: Equatable {
  enum Kind: String {
    case pem = "PEM"
    case pkcs12 = "P12"
  }

  private(set) var certificatePath: String?
  /// The format of the certificate's file, or nil for PEM.
  var kind: Kind?
  /// The path of the private key's file, or nil if the certificate's file contains the key.
  var keyPath: String?
  var password: String?

  /// Parses the value of --cert, FILE[:PASSWORD], as curl does. In the file's name, a backslash escapes a colon or a backslash.
  mutating func setCertificate(_ text: String) {
    var path = ""
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.popFirst() {
      if scalar == ":" {
        password = String(rest)
        break
      }
      let isEscape = scalar == "\\" && (rest.first == ":" || rest.first == "\\")
      path.unicodeScalars.append(isEscape ? rest.removeFirst() : scalar)
    }
    certificatePath = path
  }

  /// Reads the client's certificate and key. Returns nil if no certificate was given. Throws a `CommandError` with the code
  /// `.unusableIdentity` if the files can't be used.
  func load() throws(CommandError) -> TLSIdentity? {
    guard let certificatePath else { return nil }
    do throws(TLSError) {
      return switch kind ?? .pem {
      case .pem: try TLSIdentity(certificateFile: certificatePath, privateKeyFile: keyPath, password: password)
      case .pkcs12: try TLSIdentity(pkcs12File: certificatePath, password: password ?? "")
      }
    } catch {
      throw CommandError(
        .unusableIdentity, "\(error.message) The options are --cert, --cert-type, --key and --pass.")
    }
  }
}
