// A resource that servers hand out in parts, whole, or cut; and what a test asks of downloads.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

/// Bytes of the pattern under a validator, as a server that knows ranges serves them.
struct Resource: Sendable {
  var byteCount = 200_000
  var fields = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"]
  /// The first byte's place in the pattern, so that a changed resource has other bytes.
  var shift = 0

  /// How a response ends.
  enum End: Sendable {
    /// With its last byte.
    case whole
    /// The connection is closed behind that many bytes of the resource.
    case cut(at: Int)
    /// Nothing more comes behind that many bytes, until the client closes the connection.
    case hold(at: Int)
  }

  var bytes: Data { Data((0..<byteCount).map { Pattern.byte(at: UInt64($0 + shift)) }) }

  /// Answers a request: with 206 if it asks for a range of this very representation, with 200 otherwise.
  func answer(_ request: ReceivedRequest, on peer: Peer, _ end: End = .whole) throws {
    let asked = request.fields.first("range").flatMap { text in
      text.hasPrefix("bytes=") && text.hasSuffix("-") ? Int(text.dropFirst(6).dropLast()) : nil
    }
    let isSame = [fields["ETag"], fields["Last-Modified"]].contains(request.fields.first("if-range"))
    let first = isSame ? asked ?? 0 : 0
    var head = "HTTP/1.1 \(first > 0 ? "206" : "200") \r\nContent-Length: \(byteCount - first)\r\n"
    if first > 0 { head += "Content-Range: bytes \(first)-\(byteCount - 1)/\(byteCount)\r\n" }
    for (name, value) in fields { head += "\(name): \(value)\r\n" }
    try peer.send(head + "\r\n")
    switch end {
    case .whole: try peer.send(Array(bytes[first...]))
    case .cut(let place):
      try peer.send(Array(bytes[first..<place]))
      // Not a reset, which would take what the client hasn't read yet.
      peer.finishSending()
      _ = try peer.awaitClose()
    case .hold(let place):
      try peer.send(Array(bytes[first..<place]))
      _ = try peer.awaitClose()
    }
  }
}

/// Calls `body` with a server that answers the n-th request, from 0, with the n-th script, and then with the last one.
func withScripts<Value>(
  _ scripts: [@Sendable (ReceivedRequest, Peer) throws -> Void],
  _ body: (OriginServer, Recorder<ReceivedRequest>) async throws -> Value
) async throws -> Value {
  let count = Atomic(0)
  let requests = Recorder<ReceivedRequest>()
  return try await withOrigin { peer in
    while let request = try peer.readRequest() {
      requests.record(request)
      let index = count.add(1, ordering: .relaxed).oldValue
      try scripts[min(index, scripts.count - 1)](request, peer)
    }
  } _: { origin in
    try await body(origin, requests)
  }
}

/// Calls `body` with a new, empty folder, which is removed then.
func withDownloadFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
  let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-tests-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

/// Writes a file of a folder, over what may be there.
func into(_ folder: URL, _ name: String = "file") -> DownloadRequest.Destination {
  { _, _ in (folder.appending(path: name), [.removePreviousFile]) }
}

func names(in folder: URL) -> [String] {
  ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
}

extension DownloadRequest {
  /// Waits until that many bytes are written.
  func receives(_ byteCount: Int) async {
    let counts = Recorder<Int64>()
    downloadProgress(queue: .global()) { counts.record($0.completedUnitCount) }
    resume()
    while let count = await counts.next(), count < Int64(byteCount) {}
  }
}

extension AFDownloadResponse {
  /// The file's content; nil if there is no file.
  var content: Data? { fileURL.flatMap { try? Data(contentsOf: $0) } }

  /// The file that the resume data names.
  var leftPath: String? { resumeData.flatMap { try? ResumeData($0).path } }
}

/// Resume data of a download of `resource` that was cut behind `place` bytes.
func resumeData(
  of resource: Resource, cutAt place: Int, in session: Session, from url: String
) async throws -> Data {
  let response = await session.download(url).outcome()
  #expect(response.fileURL == nil)
  let data = try #require(response.resumeData)
  #expect(try ResumeData(data).receivedByteCount == UInt64(place))
  return data
}
