// Data+Deflate: compresses Data with the engine's deflate encoder.

package import Foundation
import LupineEngine

extension Data {
  /// Returns the data compressed in the zlib format (RFC 1950): the header `78 5E`, raw deflate data (RFC 1951), and the Adler-32
  /// checksum of the uncompressed data.
  ///
  /// - Throws: `CodingError` if there is not enough memory.
  package func deflated() throws -> Data {
    Data(try ContentEncoder.encode([UInt8](self), as: .deflate))
  }
}
