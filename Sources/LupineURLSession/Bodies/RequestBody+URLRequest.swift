// A request's body as the engine sends it.

import Foundation
import LupineEngine

extension RequestBody {
  /// The body of a request: its bytes, or its stream as it is read, once and no faster than it is sent.
  init(of request: URLRequest) {
    switch request.body {
    case .none: self.init()
    case .data(let data): self.init(data)
    case .stream(let stream): self.init(byteCount: request.declaredByteCount, isReplayable: false) { stream }
    }
  }

  /// Bytes, which aren't copied before they are sent.
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

  /// What a stream gives, no faster than it is sent. `stream` is asked each time that the body is read from its start.
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

  /// The file as long as it is now. Throws a `URLError` if it can't be sent.
  init(ofFile url: URL) throws {
    self.init()
    guard url.isFileURL else {
      throw URLError(.unsupportedURL, file: url, "isn't a file URL. Download it first, or upload its data.", nil)
    }
    let attributes: [FileAttributeKey: Any]
    do {
      // The attributes are those of a symbolic link, not of what it names.
      attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
    } catch {
      throw URLError(
        .fileDoesNotExist, file: url, "can't be uploaded: \(error.localizedDescription) Check the path.", error)
    }
    let type = attributes[.type] as? FileAttributeType
    if type == .typeDirectory {
      throw URLError(.fileIsDirectory, file: url, "is a directory. Upload its files separately or as an archive.", nil)
    }
    guard type == .typeRegular, let size = attributes[.size] as? NSNumber else {
      throw URLError(.cannotOpenFile, file: url, "isn't a regular file, so its size is unknown. Upload a stream.", nil)
    }
    if size.uint64Value > 0 { append(.file(path: url.path, byteCount: size.uint64Value)) }
  }

  /// Bytes that are read at once: as much as is handed to the kernel at a time.
  private static let pieceBytes = 65_536
}

extension URLError {
  fileprivate init(_ code: Code, file url: URL, _ explanation: String, _ underlying: (any Error)?) {
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: "\(url.isFileURL ? url.path : ReadableText.url(url)) \(explanation)",
      NSURLErrorFailingURLErrorKey: url,
    ]
    info[NSUnderlyingErrorKey] = underlying
    self.init(code, userInfo: info)
  }
}

extension URLRequest {
  /// The length that the request tells of its body, as tasks count.
  var declaredBodyByteCount: Int64? { declaredByteCount.map { Int64(clamping: $0) } }

  /// The length that the request tells of its body.
  // Content-Length = 1*DIGIT (RFC 9110 §8.6): no sign, which UInt64 would take.
  fileprivate var declaredByteCount: UInt64? {
    guard let length = fields.first("Content-Length"), length.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
      return nil
    }
    return UInt64(length)
  }
}
