// A request's body as the engine sends it.

import Foundation
import LupineEngine

extension RequestBody {
  /// The body of a request: its bytes, or its stream as it is read, once and no faster than it is sent.
  init(of request: URLRequest) {
    switch request.body {
    case .none: self.init()
    case .data(let data): self.init([UInt8](data))
    case .stream(let stream):
      self.init(byteCount: request.declaredByteCount) { writer in
        defer { stream.close() }
        try await stream.open()
        while true {
          let bytes = try await stream.read(upToCount: Self.pieceBytes)
          if bytes.isEmpty { break }
          try await writer.write(bytes)
        }
      }
    }
  }

  /// Bytes that are read at once: as much as is handed to the kernel at a time.
  private static let pieceBytes = 65_536
}

extension URLRequest {
  // Content-Length = 1*DIGIT (RFC 9110 §8.6): no sign, which UInt64 would take.
  fileprivate var declaredByteCount: UInt64? {
    guard let length = headers["Content-Length"], length.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
      return nil
    }
    return UInt64(length)
  }
}
