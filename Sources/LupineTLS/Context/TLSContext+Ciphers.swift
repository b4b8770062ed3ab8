// TLSContext+Ciphers: sets cipher lists, cipher suites and groups. OpenSSL silently skips unknown names in a list, so each name
// is first tried separately, to report misspellings.

import CLupineOpenSSL

extension TLSContext {
  static func restrictCiphers(_ configuration: TLSConfiguration, _ context: OpaquePointer) throws(TLSError) {
    if let list = configuration.cipherList { try setCipherList(list, context) }
    if let suites = configuration.cipherSuites { try setCipherSuites(suites, context) }
    if prefersAES128 { preferAES128(configuration, context) }
    if let groups = configuration.groups { try setGroups(groups, context) }
  }

  /// Whether the processor has instructions for AES. If so, the client offers AES-128-GCM first.
  package static var prefersAES128: Bool { lupine_has_aes_instructions() }

  /// Moves the AES-128-GCM ciphers with forward secrecy to the front of OpenSSL's default lists, which begin with AES-256-GCM.
  /// Doesn't change lists that the configuration sets. AES-128-GCM is the fastest cipher on a processor with instructions for AES,
  /// and 128 bits are enough (RFC 9325 §4.2).
  private static func preferAES128(_ configuration: TLSConfiguration, _ context: OpaquePointer) {
    let names = cipherNames(context)
    let (suites, ciphers) = (names.filter { $0.hasPrefix("TLS_") }, names.filter { !$0.hasPrefix("TLS_") })
    // Setting names that OpenSSL has just reported shouldn't fail. If it does, OpenSSL's order is kept.
    if configuration.cipherSuites == nil, !suites.isEmpty {
      _ = SSL_CTX_set_ciphersuites(context, withAES128First(suites).joined(separator: ":"))
    }
    if configuration.cipherList == nil, !ciphers.isEmpty {
      _ = SSL_CTX_set_cipher_list(context, withAES128First(ciphers).joined(separator: ":"))
    }
    ERR_clear_error()
  }

  private static func withAES128First(_ names: [String]) -> [String] {
    let isFirst = { (name: String) in
      name == "TLS_AES_128_GCM_SHA256" || (name.hasPrefix("ECDHE-") && name.hasSuffix("-AES128-GCM-SHA256"))
    }
    return names.filter(isFirst) + names.filter { !isFirst($0) }
  }

  private static func cipherNames(_ context: OpaquePointer) -> [String] {
    // SAFETY: the stack of ciphers belongs to the context, and the names are static in OpenSSL.
    elements(of: SSL_CTX_get_ciphers(context)).compactMap { cipher in
      SSL_CIPHER_get_name(OpaquePointer(cipher)).map { String(cString: $0) }
    }
  }

  /// Sets the ciphers of TLS 1.2. Throws `TLSError.Code.configuration` if a name in `list` matches no cipher, or if the list allows
  /// no cipher.
  private static func setCipherList(_ list: String, _ context: OpaquePointer) throws(TLSError) {
    let parts = list.utf8.split { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
    let scratch = try scratch()
    for part in parts.map({ String($0) ?? "" }) {
      // "!" and "-" remove ciphers, and may match none. "+" moves ciphers. "@" begins a command.
      if part.hasPrefix("!") || part.hasPrefix("-") || part.hasPrefix("@") { continue }
      let name = part.hasPrefix("+") ? String(part.dropFirst()) : part
      guard !name.utf8.contains(0), SSL_CTX_set_cipher_list(scratch.pointer, name) == 1 else {
        throw .configurationFromQueue("cipherList: OpenSSL has no cipher \"\(part)\"; see `openssl ciphers -v`.")
      }
    }
    guard !parts.isEmpty, !list.utf8.contains(0), SSL_CTX_set_cipher_list(context, list) == 1 else {
      throw .configurationFromQueue("cipherList \"\(list)\" allows no cipher. Leave it nil for OpenSSL's default.")
    }
  }

  /// Sets the cipher suites of TLS 1.3. Throws `TLSError.Code.configuration` if `suites` is empty or contains an unknown name.
  private static func setCipherSuites(_ suites: [String], _ context: OpaquePointer) throws(TLSError) {
    guard !suites.isEmpty else {
      throw .configuration(
        "cipherSuites is empty. Leave it nil for OpenSSL's default, or set maximumVersion to TLS 1.2.")
    }
    let scratch = try scratch()
    for suite in suites {
      // For an unknown name, OpenSSL sets an empty list and reports no error.
      guard isName(suite), SSL_CTX_set_ciphersuites(scratch.pointer, suite) == 1,
        cipherNames(scratch.pointer).contains(suite)
      else {
        throw .configurationFromQueue(
          "cipherSuites: OpenSSL has no TLS 1.3 suite \"\(suite)\"; see `openssl ciphers -s -tls1_3`.")
      }
    }
    guard SSL_CTX_set_ciphersuites(context, suites.joined(separator: ":")) == 1 else {
      throw .configurationFromQueue("cipherSuites can't be set.")
    }
  }

  private static func setGroups(_ groups: [String], _ context: OpaquePointer) throws(TLSError) {
    guard !groups.isEmpty else {
      throw .configuration(
        "The list of key exchange groups is empty. Name at least one group, or set groups to nil for OpenSSL's defaults."
      )
    }
    let scratch = try scratch()
    for group in groups {
      guard isName(group), lupine_ctx_set_groups(scratch.pointer, group) == 1 else {
        throw .configurationFromQueue("groups: OpenSSL has no group \"\(group)\"; X25519 and P-256 are common groups.")
      }
    }
    guard lupine_ctx_set_groups(context, groups.joined(separator: ":")) == 1 else {
      throw .configurationFromQueue("groups: the list is too long or contains a group twice.")
    }
  }

  /// Returns whether `text` has the form of a single name of a cipher suite or group. OpenSSL would also accept a list of names.
  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
  }

  /// Returns a temporary SSL_CTX, on which each name of a list is tried separately.
  private static func scratch() throws(TLSError) -> Owned { try unconfigured(TLS_client_method()) }
}
