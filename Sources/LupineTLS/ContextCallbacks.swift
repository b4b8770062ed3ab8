// What OpenSSL calls back while a session's call runs, on that call's thread.

import CLupineOpenSSL

/// What the callbacks of a client's session read and write; the session holds it, and the SSL points at it.
final class ClientAttachment {
  let host: String
  let resumption: ResumptionStore
  /// Set by a handshake that failed on the certificate.
  var rejection: CertificateRejection?

  init(host: String, resumption: ResumptionStore) {
    self.host = host
    self.resumption = resumption
  }

  /// The slot of application data that OpenSSL leaves to its user.
  private static let slot: Int32 = 0

  func attach(to ssl: OpaquePointer) throws(TLSError) {
    guard SSL_set_ex_data(ssl, Self.slot, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
      throw .outOfMemory("a session's data")
    }
  }

  static func attached(to ssl: OpaquePointer) -> ClientAttachment? {
    // SAFETY: only `attach` fills the slot, and the session holds the object until after its SSL's last call.
    SSL_get_ex_data(ssl, slot).map { Unmanaged<ClientAttachment>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// What a server speaks, encoded as in ALPN.
final class ServedProtocols: Sendable {
  let encoded: [UInt8]

  init(_ encoded: [UInt8]) {
    self.encoded = encoded
  }
}

/// Notes why a certificate is refused, and leaves OpenSSL's verdict as it is.
let recordRejection: SSL_verify_cb = { verdict, store in
  guard verdict == 0, let store else { return verdict }
  // SAFETY: OpenSSL keeps the SSL that it verifies for in this slot of the store's context.
  if let raw = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()) {
    ClientAttachment.attached(to: OpaquePointer(raw))?.rejection = CertificateRejection(store)
  }
  return verdict
}

/// Keeps a session that the server offers to resume; 1 says that its reference was taken over.
let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
  guard let ssl, let session, let attachment = ClientAttachment.attached(to: ssl) else { return 0 }
  attachment.resumption.keep(session, host: attachment.host)
  return 1
}

/// RFC 7301 §3.2: the server's first choice among what the client offers, or a no_application_protocol alert.
let chooseProtocol: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenCount, offered, offeredCount, argument in
  guard let chosen, let chosenCount, let offered, let argument else { return SSL_TLSEXT_ERR_ALERT_FATAL }
  // SAFETY: the argument is the context's ServedProtocols; `offered` has `offeredCount` bytes, whose form OpenSSL has
  // checked, and lives until OpenSSL has copied the choice.
  let served = Unmanaged<ServedProtocols>.fromOpaque(argument).takeUnretainedValue().encoded
  let list = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
  for choice in alpnNames(served) {
    let wanted = served[choice]
    guard let match = alpnNames(list).first(where: { list[$0].elementsEqual(wanted) }) else { continue }
    chosen.pointee = offered.advanced(by: match.lowerBound)
    chosenCount.pointee = UInt8(match.count)
    return SSL_TLSEXT_ERR_OK
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Where the names of a protocol_name_list lie; ends at the first that doesn't fit.
private func alpnNames(_ list: some RandomAccessCollection<UInt8>) -> [Range<Int>] {
  let bytes = Array(list)
  var ranges: [Range<Int>] = []
  var index = 0
  while index < bytes.count, case let end = index + 1 + Int(bytes[index]), end <= bytes.count {
    ranges.append(index + 1..<end)
    index = end
  }
  return ranges
}
