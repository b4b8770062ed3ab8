// The engine's deflate encoder for Foundation's bytes.

package import Foundation
import LupineEngine

extension Data {
  /// The bytes in the zlib format (RFC 1950): the header `78 5E`, raw deflate (RFC 1951), Adler-32.
  ///
  /// - Throws: a `CodingError` for want of memory.
  package func deflated() throws -> Data {
    Data(try ContentEncoder.encode([UInt8](self), as: .deflate))
  }
}
