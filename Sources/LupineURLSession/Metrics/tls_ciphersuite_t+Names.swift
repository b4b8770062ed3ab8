// tls_ciphersuite_t+Names: the cipher suites that Foundation names, by their numbers in IANA's registry of TLS cipher suites.

// swift-format-ignore: AlwaysUseLowerCamelCase
extension tls_ciphersuite_t {
  /// The cipher suite `TLS_AES_128_GCM_SHA256`.
  public static let AES_128_GCM_SHA256 = tls_ciphersuite_t(rawValue: 0x1301)
  /// The cipher suite `TLS_AES_256_GCM_SHA384`.
  public static let AES_256_GCM_SHA384 = tls_ciphersuite_t(rawValue: 0x1302)
  /// The cipher suite `TLS_CHACHA20_POLY1305_SHA256`.
  public static let CHACHA20_POLY1305_SHA256 = tls_ciphersuite_t(rawValue: 0x1303)
  /// The cipher suite `TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA`.
  public static let ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC008)
  /// The cipher suite `TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA`.
  public static let ECDHE_ECDSA_WITH_AES_128_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC009)
  /// The cipher suite `TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256`.
  public static let ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = tls_ciphersuite_t(rawValue: 0xC023)
  /// The cipher suite `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`.
  public static let ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = tls_ciphersuite_t(rawValue: 0xC02B)
  /// The cipher suite `TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA`.
  public static let ECDHE_ECDSA_WITH_AES_256_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC00A)
  /// The cipher suite `TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384`.
  public static let ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = tls_ciphersuite_t(rawValue: 0xC024)
  /// The cipher suite `TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384`.
  public static let ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = tls_ciphersuite_t(rawValue: 0xC02C)
  /// The cipher suite `TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256`.
  public static let ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = tls_ciphersuite_t(rawValue: 0xCCA9)
  /// The cipher suite `TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA`.
  public static let ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC012)
  /// The cipher suite `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA`.
  public static let ECDHE_RSA_WITH_AES_128_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC013)
  /// The cipher suite `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256`.
  public static let ECDHE_RSA_WITH_AES_128_CBC_SHA256 = tls_ciphersuite_t(rawValue: 0xC027)
  /// The cipher suite `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`.
  public static let ECDHE_RSA_WITH_AES_128_GCM_SHA256 = tls_ciphersuite_t(rawValue: 0xC02F)
  /// The cipher suite `TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA`.
  public static let ECDHE_RSA_WITH_AES_256_CBC_SHA = tls_ciphersuite_t(rawValue: 0xC014)
  /// The cipher suite `TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384`.
  public static let ECDHE_RSA_WITH_AES_256_CBC_SHA384 = tls_ciphersuite_t(rawValue: 0xC028)
  /// The cipher suite `TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384`.
  public static let ECDHE_RSA_WITH_AES_256_GCM_SHA384 = tls_ciphersuite_t(rawValue: 0xC030)
  /// The cipher suite `TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256`.
  public static let ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = tls_ciphersuite_t(rawValue: 0xCCA8)
  /// The cipher suite `TLS_RSA_WITH_3DES_EDE_CBC_SHA`.
  public static let RSA_WITH_3DES_EDE_CBC_SHA = tls_ciphersuite_t(rawValue: 0x000A)
  /// The cipher suite `TLS_RSA_WITH_AES_128_CBC_SHA`.
  public static let RSA_WITH_AES_128_CBC_SHA = tls_ciphersuite_t(rawValue: 0x002F)
  /// The cipher suite `TLS_RSA_WITH_AES_128_CBC_SHA256`.
  public static let RSA_WITH_AES_128_CBC_SHA256 = tls_ciphersuite_t(rawValue: 0x003C)
  /// The cipher suite `TLS_RSA_WITH_AES_128_GCM_SHA256`.
  public static let RSA_WITH_AES_128_GCM_SHA256 = tls_ciphersuite_t(rawValue: 0x009C)
  /// The cipher suite `TLS_RSA_WITH_AES_256_CBC_SHA`.
  public static let RSA_WITH_AES_256_CBC_SHA = tls_ciphersuite_t(rawValue: 0x0035)
  /// The cipher suite `TLS_RSA_WITH_AES_256_CBC_SHA256`.
  public static let RSA_WITH_AES_256_CBC_SHA256 = tls_ciphersuite_t(rawValue: 0x003D)
  /// The cipher suite `TLS_RSA_WITH_AES_256_GCM_SHA384`.
  public static let RSA_WITH_AES_256_GCM_SHA384 = tls_ciphersuite_t(rawValue: 0x009D)
}
