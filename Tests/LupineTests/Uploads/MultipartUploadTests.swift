// Uploads of multipart forms: where they are encoded, how often, which files remain, and how servers read them.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct MultipartUploadTests {
  /// The JSON with which httpbin's /post describes the form that it has received.
  private struct Form: Decodable, Sendable, Equatable {
    var form: [String: String]
    var files: [String: String]
    var headers: [String: String]
  }

  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "org.alamofire.manager/multipart.form.data", directoryHint: .isDirectory)

  private func sentFile(_ request: UploadRequest) -> URL? {
    if case .file(let url, shouldRemove: true)? = request.uploadable { url } else { nil }
  }

  // MARK: Received forms

  @Test(
    "httpbin parses the fields and files of a form, whether it was encoded in memory or in a file",
    arguments: [.max, 0] as [UInt64])
  func httpbin(threshold: UInt64) async throws {
    let url = try await TestServers.httpbin + "/post"
    try await withFolder { folder in
      let file = folder.appending(path: "note.txt")
      try Data("from a file".utf8).write(to: file)
      try await withSession { session in
        let request = session.upload(
          multipartFormData: { form in
            form.append(Data("value".utf8), withName: "field")
            form.append(file, withName: "file")
            form.append(
              InputStream(data: Data("from a stream".utf8)), withLength: 13, name: "stream", fileName: "s.txt",
              mimeType: "text/plain")
          }, to: url, usingThreshold: threshold)
        let form = try await request.validate().serializingDecodable(Form.self).value
        #expect(form.form == ["field": "value"])
        #expect(form.files == ["file": "from a file", "stream": "from a stream"])
        #expect(form.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=alamofire.boundary.") == true)
        #expect((sentFile(request) == nil) == (threshold == .max))
      }
    }
  }

  @Test("each overload of upload sends the same form, and the form's content type replaces the request's Content-Type")
  func overloads() async throws {
    try await withServer { request in
      let lines = request.fields.filter { $0.name.lowercased() == "content-type" }.map(\.value)
      return .text(
        "\(request.method) \(lines) \(request.fields.first("X-Own") ?? "") \(String(decoding: request.body, as: UTF8.self))"
      )
    } _: { origin in
      try await withSession { session in
        let fill: (MultipartFormData) -> Void = { form in
          form.contentType = "multipart/mixed; boundary=\(form.boundary)"
          form.append(Data("v".utf8), withName: "n")
        }
        let form = { () -> MultipartFormData in
          let form = MultipartFormData(boundary: "B")
          fill(form)
          return form
        }
        let headers: HTTPHeaders = [.contentType("text/plain"), HTTPHeader(name: "X-Own", value: "1")]
        let own = try URLRequest(url: origin.url, method: .put, headers: headers)
        for (method, request) in [
          ("POST", session.upload(multipartFormData: fill, to: origin.url, headers: headers)),
          ("PUT", session.upload(multipartFormData: fill, with: own)),
          ("POST", session.upload(multipartFormData: form(), to: origin.url, headers: headers)),
          ("PUT", session.upload(multipartFormData: form(), with: own)),
          (
            "PATCH",
            session.upload(multipartFormData: form(), to: origin.url, method: .patch) { $0.headers["X-Own"] = "1" }
          ),
        ] {
          let text = try await request.text()
          let type = try #require(request.request?.headers["Content-Type"])
          let boundary = try #require(type.split(separator: "=").last)
          #expect(type.hasPrefix("multipart/mixed; boundary="))
          #expect(
            text == "\(method) [\"\(type)\"] 1 --\(boundary)\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nv"
              + "\r\n--\(boundary)--\r\n")
        }
      }
    }
  }

  // MARK: Encoding

  @Test(
    "an upload encodes a form in memory only if the form's content, without boundaries, is smaller than the threshold")
  func threshold() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withSession { session in
        for (threshold, isFile) in [(1001, false), (1000, true), (999, true)] as [(UInt64, Bool)] {
          let request = session.upload(
            multipartFormData: { form in
              form.append(Pattern.data(400), withName: "a")
              form.append(Pattern.data(600), withName: "b")
            }, to: origin.url, usingThreshold: threshold)
          #expect(await request.outcome().error == nil)
          #expect((sentFile(request) != nil) == isFile)
        }
        let large = session.upload(
          multipartFormData: { $0.append(Pattern.data(10_000_000), withName: "a") }, to: origin.url)
        #expect(await large.outcome().error == nil && sentFile(large) != nil)
      }
    }
  }

  @Test(
    "an encoded form's temporary file is readable only by its owner, and is deleted after the upload")
  func file() async throws {
    let (arrived, proceed) = (Gate(), Gate())
    try await withOrigin { peer in
      guard let request = try peer.readRequest() else { return }
      arrived.open()
      try peer.wait(for: proceed)
      try peer.send(.text("\(request.body.count)"), to: request)
    } _: { origin in
      try await withSession { session in
        let request = session.upload(
          multipartFormData: { $0.append(Pattern.data(10), withName: "a") }, to: origin.url, usingThreshold: 0)
        let response = request.serializingString()
        await arrived.wait()
        let file = try #require(sentFile(request))
        #expect(file.deletingLastPathComponent().path == folder.path)
        #expect(UUID(uuidString: file.lastPathComponent) != nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.uint16Value == 0o600)
        proceed.open()
        let count = try await response.value
        #expect(Int(count) == (attributes[.size] as? NSNumber)?.intValue)
        #expect(!FileManager.default.fileExists(atPath: file.path))
      }
    }
  }

  @Test(
    "an upload encodes its form once, on the request queue, and retries send the same bytes",
    arguments: [.max, 0] as [UInt64])
  func once(threshold: UInt64) async throws {
    let bodies = Mutex<[[UInt8]]>([])
    try await withServer { request in
      let count = bodies.withLock { bodies in
        bodies.append(request.body)
        return bodies.count
      }
      return .text("", status: count < 3 ? 500 : 200)
    } _: { origin in
      let key = DispatchSpecificKey<Bool>()
      let queue = DispatchQueue(label: "requests")
      queue.setSpecific(key: key, value: true)
      let session = Session(configuration: .ephemeral, requestQueue: queue)
      let stream = PatternStream(1000)
      let isOnQueue = Mutex<[Bool]>([])
      stream.onRead = { isOnQueue.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true) } }
      let files = Mutex<Set<URL>>([])
      let request = session.upload(
        multipartFormData: {
          $0.append(stream, withLength: 1000, name: "a", fileName: "a", mimeType: "b/c")
          #expect(DispatchQueue.getSpecific(key: key) == nil)
        }, to: origin.url, usingThreshold: threshold
      ).validate().retry(
        using: Retrier { request, _, _, completion in
          if case .file(let url, _)? = (request as? UploadRequest)?.uploadable { _ = files.withLock { $0.insert(url) } }
          completion(request.retryCount < 2 ? .retry : .doNotRetry)
        })
      #expect(await request.outcome().error == nil && request.retryCount == 2)
      #expect(stream.openCount == 1)
      let reads = isOnQueue.withLock { $0 }
      #expect(!reads.isEmpty && reads.allSatisfy(\.self))
      let sent = bodies.withLock { $0 }
      let isSame = sent.count == 3 && sent.allSatisfy { $0 == sent[0] } && sent[0].count > 1000
      #expect(isSame)
      let left = files.withLock { $0 }
      #expect(left.count == (threshold == 0 ? 1 : 0))
      #expect(left.allSatisfy { !FileManager.default.fileExists(atPath: $0.path) })
    }
  }

  @Test("an upload whose form can't be encoded fails and leaves no file", arguments: [.max, 0] as [UInt64])
  func failure(threshold: UInt64) async throws {
    try await withSession { session in
      let missing = URL(filePath: "/nonexistent/lupine.txt")
      let unreachable = await session.upload(
        multipartFormData: { $0.append(missing, withName: "a") }, to: "http://127.0.0.1:1", usingThreshold: threshold
      ).outcome()
      guard case .multipartEncodingFailed(.bodyPartFileNotReachableWithError(let url, _))? = unreachable.error else {
        throw Mishap("\(unreachable)")
      }
      #expect(url == missing && unreachable.metrics == nil)
      let short = session.upload(
        multipartFormData: { form in
          form.append(Pattern.data(100_000), withName: "b")
          form.append(PatternStream(5), withLength: 6, name: "a", fileName: "a", mimeType: "b/c")
        }, to: "http://127.0.0.1:1", usingThreshold: threshold)
      guard case .multipartEncodingFailed(.inputStreamReadFailed(let error))? = await short.outcome().error else {
        throw Mishap("\(short)")
      }
      #expect((error as? AFError.UnexpectedInputStreamLength)?.bytesRead == 5)
      #expect(short.uploadable == nil && short.tasks.isEmpty)
    }
  }

  @Test(
    "a multipart form isn't written to a folder that belongs to another user in a shared temporary directory",
    .enabled(if: geteuid() == 0))
  func otherUsersFolder() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withFolder { folder in
        let others = folder.appending(path: "org.alamofire.manager")
        try FileManager.default.createDirectory(at: others, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: others.path)
        let files = Recorder<URL>()
        try await withSession { session in
          let request = session.upload(
            multipartFormData: { $0.append(Pattern.data(10), withName: "a") }, to: origin.url, usingThreshold: 0,
            fileManager: OtherPlace(folder))
          #expect(await request.outcome().error == nil)
          if let file = sentFile(request) { files.record(file) }
        }
        let place = try #require(await files.next()).deletingLastPathComponent()
        #expect(place.path == folder.path + "/org.alamofire.manager.0/multipart.form.data")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: others.appending(path: "multipart.form.data/x").path))
      }
    }
  }

  @Test(
    "if other users have created the predictable folders for multipart forms, a folder with a random name is used",
    .enabled(if: geteuid() == 0))
  func predictableFolders() throws {
    try withFolder { folder in
      let names = ["org.alamofire.manager", "org.alamofire.manager.0"]
      for name in names {
        let others = folder.appending(path: name)
        try FileManager.default.createDirectory(at: others, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: others.path)
      }
      let place = try MultipartFolder.make(OtherPlace(folder))
      let outer = place.deletingLastPathComponent()
      #expect(outer.deletingLastPathComponent().path == folder.path && !names.contains(outer.lastPathComponent))
      #expect(UUID(uuidString: String(outer.lastPathComponent.dropFirst(names[0].count + 1))) != nil)
      for made in [outer, place] {
        let attributes = try FileManager.default.attributesOfItem(atPath: made.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
      }
      // If another user takes even this folder, there is no other.
      try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: outer.path)
      #expect(throws: (any Error).self) { try MultipartFolder.make(OtherPlace(folder)) }
    }
  }

  @Test("a multipart form isn't written to a folder in which other users may create and replace files")
  func sharedFolder() throws {
    try withFolder { folder in
      let shared = folder.appending(path: "org.alamofire.manager")
      try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: false)
      for mode in [0o720, 0o702] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: shared.path)
        let place = try MultipartFolder.make(OtherPlace(folder))
        #expect(place.path == folder.path + "/org.alamofire.manager.\(geteuid())/multipart.form.data")
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: shared.path)
      #expect(try MultipartFolder.make(OtherPlace(folder)).path == shared.path + "/multipart.form.data")
    }
  }

  // MARK: Remaining files

  @Test("if shouldRemove is true, an upload deletes its file after serialization, and before the response is delivered")
  func removal() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withFolder { folder in
        try await withSession { session in
          for shouldRemove in [true, false] {
            let file = try folder.patternFile(10)
            let request = UploadRequest(
              try URLRequest(url: origin.url, method: .post),
              UploadRequest.Uploadable.file(file, shouldRemove: shouldRemove), session, nil, .default)
            let wasThere = Mutex(false)
            let report = request.serializingResponse(
              using: Checking { wasThere.withLock { $0 = FileManager.default.fileExists(atPath: file.path) } })
            #expect(await report.response.error == nil)
            #expect(wasThere.withLock { $0 })
            #expect(FileManager.default.fileExists(atPath: file.path) != shouldRemove)
          }
        }
      }
    }
  }

  @Test("cancelling an upload also deletes an encoded form's file that is created during the cancellation")
  func lateFile() async throws {
    try await withFolder { folder in
      let (making, cancelled) = (Gate(), Gate())
      let made = Gate()
      let session = Session(configuration: .ephemeral, requestQueue: DispatchQueue(label: "requests"))
      let request = UploadRequest(
        try URLRequest(url: "http://127.0.0.1:1", method: .post),
        MadeUploadable {
          making.open()
          cancelled.waitBlocking()
          return .file(try folder.patternFile(10), shouldRemove: true)
        }, session, nil, .default)
      let response = request.serializingData()
      await making.wait()
      request.cancel()
      #expect(await response.response.error?.isExplicitlyCancelledError == true)
      cancelled.open()
      session.requestQueue.async { made.open() }
      await made.wait()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
      #expect(request.tasks.isEmpty)
    }
  }
}

/// A response serializer that calls a closure when it serializes the response.
private struct Checking: DataResponseSerializerProtocol {
  let check: @Sendable () -> Void

  init(_ check: @escaping @Sendable () -> Void) { self.check = check }

  func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> Int {
    check()
    if let error { throw error }
    return data?.count ?? 0
  }
}

/// A FileManager with another temporary directory.
private final class OtherPlace: FileManager, @unchecked Sendable {
  private let place: URL

  init(_ place: URL) { self.place = place }

  override var temporaryDirectory: URL { place }
}
