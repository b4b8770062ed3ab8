// The client's certificate as the options name it: --cert, --cert-type, --key and --pass.

import LupineEngine

/// The files of a client's certificate and key.
struct IdentityFiles: Equatable {
  enum Kind: String {
    case pem = "PEM"
    case pkcs12 = "P12"
  }

  private(set) var certificatePath: String?
  /// Nil: PEM.
  var kind: Kind?
  /// Nil: the certificate's file holds the key too.
  var keyPath: String?
  var password: String?

  /// Reads FILE[:PASSWORD] as curl does: in the file's name, a backslash goes before a colon or a backslash.
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

  /// Reads the files; nil if no certificate is named.
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
