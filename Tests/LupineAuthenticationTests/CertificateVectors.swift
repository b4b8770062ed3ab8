// CertificateVectors: self-signed certificates with different signatures, in DER, made with openssl req -x509.

@testable import LupineAuthentication
@testable import LupineWire

enum CertificateVectors {
  /// A self-signed certificate in DER whose signature uses ECDSA with SHA-256.
  static let sha256 = der(
    """
    MIIBbTCCAROgAwIBAgIUF6fG2+USOIZhbyIQaIM+u/4+KqYwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBaDAeFw0yNjExMjQwNzM1MDVaFw0zNjEx\
    MjEwNzM1MDVaMAwxCjAIBgNVBAMMAWgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASWJInmH0xP4PNap7QylUs9wNI/aLdPvomB9s7g+iMsOiyt\
    AtuxzOgs5JyDb9h+PaOryGI1dGg9BeEivSjOFO5Ko1MwUTAdBgNVHQ4EFgQUAvmVsTvT9zuf9cxh/MpCRVl+gHYwHwYDVR0jBBgwFoAUAvmVsTvT\
    9zuf9cxh/MpCRVl+gHYwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiB0EenN5IBYgdL+sSV5f768EmtpbnXnH/RjB3YQ3PZkAwIh\
    AJH5SxsSBpLM1R/xPwg62TFOnat7TyD2yD0HNMpG6vWt
    """)
  /// A self-signed certificate in DER whose signature uses ECDSA with SHA-384.
  static let sha384 = der(
    """
    MIIBbjCCAROgAwIBAgIUaZpwb3w9wD/51yec9Bm71iRqnukwCgYIKoZIzj0EAwMwDDEKMAgGA1UEAwwBaDAeFw0yNjExMjQwNzM1MDVaFw0zNjEx\
    MjEwNzM1MDVaMAwxCjAIBgNVBAMMAWgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASs/AkOS7JdCyGL3zAi5sHhfPwbbYlHJ8HIq8n8Gv9MgtiO\
    JdXGNHhxebHtxCejpU/4PCYzcACcytUnYkEyCrAfo1MwUTAdBgNVHQ4EFgQUH65XDE+ZkQ83hiYR7NsgIHmxn5gwHwYDVR0jBBgwFoAUH65XDE+Z\
    kQ83hiYR7NsgIHmxn5gwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAwNJADBGAiEA6NZhki1O8t2CRRDkBmU4/Wp9hrgkh2pLnmkB0LEdTrIC\
    IQCjnPtX5W414tVvm0aIPai0RH1zG+uwPMCeAqk3s3/nLg
    """)
  /// A self-signed certificate in DER whose signature uses ECDSA with SHA-1.
  static let sha1 = der(
    """
    MIIBbDCCARKgAwIBAgIUZ9i+k2bXriCmM/jTffbMsXD8rIcwCQYHKoZIzj0EATAMMQowCAYDVQQDDAFoMB4XDTI2MTEyNDA3MzUwNVoXDTM2MTEy\
    MTA3MzUwNVowDDEKMAgGA1UEAwwBaDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABL5vDEwkHxKodWzZXqO3zFG3/p0z/Ku8u3wyfXq2ngPAvshW\
    Pq15S+6p8gOHmBnMuSOlXqTQKFst40GahPHYDzujUzBRMB0GA1UdDgQWBBSrHqfDY0XOJPNOqJzF6HZUGgUfaTAfBgNVHSMEGDAWgBSrHqfDY0XO\
    JPNOqJzF6HZUGgUfaTAPBgNVHRMBAf8EBTADAQH/MAkGByqGSM49BAEDSQAwRgIhAMyRCgI89HdXzFu6ZGrz3vSwPvK+YpiZ2BKErFRNXV6aAiEA\
    qhJlMLBGeB5+fw85oGO5vO7r0sdkg8Fkk2J3khoRoNw
    """)
  /// A self-signed certificate in DER whose signature is Ed25519, a scheme without a separate hash function.
  static let ed25519 = der(
    """
    MIIBLDCB36ADAgECAhQyC+irVj5KV9N0n86defVK+Yy8KDAFBgMrZXAwDDEKMAgGA1UEAwwBaDAeFw0yNjExMjQwNzM1MDVaFw0zNjExMjEwNzM1\
    MDVaMAwxCjAIBgNVBAMMAWgwKjAFBgMrZXADIQBMwrJwXkQryBOCzccxRcWx0Ahplqyob7hez0tt3Tyu4aNTMFEwHQYDVR0OBBYEFO62er/qCrE6\
    HgLCK8XgPNkU3VqNMB8GA1UdIwQYMBaAFO62er/qCrE6HgLCK8XgPNkU3VqNMA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EAgRB7SB4Cf9DKLfvO\
    v1SQ70vOSR5bpmbG7dxNDakJRr/UjRbjC6erJlDt524iV7KzUVAi6a7wuG68mvQBnQxxDw
    """)

  private static func der(_ text: String) -> [UInt8] { Base64.decode(text) ?? [] }
}
