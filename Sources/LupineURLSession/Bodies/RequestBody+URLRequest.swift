// RequestBody+URLRequest: converts a URLRequest's body to the engine's RequestBody.

import Foundation
import LupineEngine

extension RequestBody {
  /// Creates the engine's request body from the data or stream of a URLRequest. A stream can be read only once. It is read no
  /// faster than the connection sends the body.
  init(of request: URLRequest) {
    switch request.body {
    case .none: self.init()
    case .data(let data): self.init(data)
    case .stream(let stream): self.init(byteCount: request.declaredByteCount, isReplayable: false) { stream }
    }
  }

  /// Creates a request body from data, without copying the data.
  init(_ data: Data) {
    self.init()
    guard !data.isEmpty else { return }
    append(
      .held(
        HeldBytes(byteCount: data.count) { range, output in
          let start = data.startIndex
          output.append(contentsOf: data[start + range.lowerBound..<start + range.upperBound])
        }))
  }

  /// Creates a request body from a stream, which is read no faster than the connection sends the body. The engine calls `stream`
  /// each time it sends the body.
  init(byteCount: UInt64?, isReplayable: Bool, from stream: @escaping @Sendable () async throws -> BodyStream) {
    self.init(byteCount: byteCount, isReplayable: isReplayable) { writer in
      let stream = try await stream()
      var reading = try await stream.open()
      defer { stream.close(reading) }
      while true {
        let bytes = try await stream.read(upToCount: Self.pieceBytes, &reading)
        if bytes.isEmpty { break }
        try await writer.write(bytes)
      }
    }
  }

  /// Creates a request body from a file. The body's length is the file's current size. Throws a `URLError` if the file can't be
  /// sent.
  init(ofFile url: URL) throws {
    self.init()
    guard url.isFileURL else {
      throw URLError(.unsupportedURL, file: url, "isn't a file URL. Download it first, or upload its data.")
    }
    let attributes: [FileAttributeKey: Any]
    do {
      // `attributesOfItem` doesn't follow symbolic links.
      attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
    } catch {
      throw URLError(missing: url, error)
    }
    let type = attributes[.type] as? FileAttributeType
    if type == .typeDirectory {
      throw URLError(.fileIsDirectory, file: url, "is a directory. Upload its files separately or as an archive.")
    }
    guard type == .typeRegular, let size = attributes[.size] as? NSNumber else {
      throw URLError(.cannotOpenFile, file: url, "isn't a regular file, so its size is unknown. Upload a stream.")
    }
    if size.uint64Value > 0 { append(.file(path: url.path, byteCount: size.uint64Value)) }
  }

  /// The maximum number of bytes to read from a stream at once: 64 KiB, the size of one write to the socket.
  private static let pieceBytes = 65_536
}

extension URLError {
  /// Creates the error for a file to upload that can't be found.
  init(missing url: URL, _ error: any Error) {
    self.init(
      .fileDoesNotExist, file: url, "can't be uploaded: \(ReadableText.error(error)) Check the path.", error)
  }

  fileprivate init(_ code: Code, file url: URL, _ explanation: String, _ underlying: (any Error)? = nil) {
    self.init(
      code, "\(url.isFileURL ? url.path : ReadableText.url(url)) \(explanation)", url: url, underlying: underlying)
  }
}

extension URLRequest {
  /// The body's length in bytes according to the request's Content-Length field. Nil if the field is missing or malformed.
  // Content-Length = 1*DIGIT (RFC 9110 §8.6), without a sign, which UInt64 would accept.
  var declaredByteCount: UInt64? {
    guard let length = fields.first("Content-Length"), length.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
      return nil
    }
    return UInt64(length)
  }
}
