// AcceptEncoding: the values of Accept-Encoding that clients send by default, which depend on the package's traits.

package enum AcceptEncoding {
  #if Zstd
    /// The Accept-Encoding that a `URLSession` sends by default, with the trait Zstd.
    package static let session = "br;q=1.0, zstd;q=0.9, gzip;q=0.8, deflate;q=0.7"
    /// The Accept-Encoding that the command `lupine` sends by default, with the trait Zstd.
    package static let command = "br, zstd, gzip, deflate"
  #else
    /// The Accept-Encoding that a `URLSession` sends by default, without the trait Zstd.
    package static let session = "br;q=1.0, gzip;q=0.9, deflate;q=0.8"
    /// The Accept-Encoding that the command `lupine` sends by default, without the trait Zstd.
    package static let command = "br, gzip, deflate"
  #endif
}
