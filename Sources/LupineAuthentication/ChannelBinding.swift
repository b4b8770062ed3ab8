// ChannelBinding: binds an authentication to the TLS connection on which it happens, so that an
// attacker can't relay it (RFC 5056, RFC 5929 §4).

import LupineTLS

/// The channel binding `tls-server-end-point`: a hash of the server's certificate, which binds an authentication to the TLS
/// connection.
package struct ChannelBinding: Sendable, Hashable {
  /// The application data of GSSAPI's channel bindings: the text "tls-server-end-point:", followed by the hash of the server's
  /// certificate.
  package let applicationData: [UInt8]

  /// Creates the channel binding of a TLS connection from the server's certificate in DER. Returns nil if the binding isn't defined
  /// for the certificate's signature (RFC 5929 §4.1).
  package init?(serverCertificate: [UInt8]) {
    guard let hash = endPointBinding(ofCertificate: serverCertificate) else { return nil }
    applicationData = Array("tls-server-end-point:".utf8) + hash
  }

  // gss_channel_bindings_struct: the types and lengths of two addresses, which are empty, and the application data's
  // length, 32 bits each, then the data (RFC 2743 §1.1.6, MS-NLMP 2.2.2.1)
  /// The MD5 hash of the channel binding, which NTLM sends as an attribute. Nil if OpenSSL's configuration forbids MD5.
  var hash: [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    bytes.append(littleEndian: UInt32(applicationData.count))
    return MessageDigest.md5.hash(bytes + applicationData)
  }
}
