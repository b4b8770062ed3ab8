// MultipartTests: multipart forms, and their uploads from memory and from disk.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct MultipartTests {
  private typealias Encoding = SessionManager.MultipartFormDataEncodingResult

  private let server: OriginServer
  private let folder: Folder
  private let manager = makeManager()

  init() throws {
    server = try demoServer()
    folder = try Folder()
  }

  private func upload(threshold: UInt64, _ fill: @escaping (MultipartFormData) -> Void) async -> Encoding {
    await firstValue { completion in
      manager.upload(
        multipartFormData: fill, usingThreshold: threshold, to: "\(server.url)/echo", queue: .global(),
        encodingCompletion: completion)
    }
  }

  @Test("a multipart form smaller than the memory threshold is sent from memory")
  func memory() async throws {
    let result = await upload(threshold: 1_000) { form in
      form.append(Data("value".utf8), withName: "field")
    }
    guard case .success(let request, false, nil) = result else { return #expect(Bool(false), "\(result)") }
    let echo = await request.object()
    #expect(echo["body"]?.contains("name=\"field\"\r\n\r\nvalue\r\n") == true)
    let type = request.request?.value(forHTTPHeaderField: "Content-Type")
    #expect(type?.hasPrefix("multipart/form-data; boundary=alamofire.boundary.") == true)
  }

  @Test("a multipart form that reaches the memory threshold is sent from a file, which is deleted afterward")
  func disk() async throws {
    let result = await upload(threshold: 5) { form in
      form.append(Data("value".utf8), withName: "field", fileName: "f.txt", mimeType: "text/plain")
    }
    guard case .success(let request, true, let file?) = result else { return #expect(Bool(false), "\(result)") }
    #expect(await request.object()["body"]?.contains("filename=\"f.txt\"") == true)
    // The form's file is removed on this serial queue, so an operation that is added later runs after the removal.
    await withCheckedContinuation { continuation in request.delegate.queue.addOperation { continuation.resume() } }
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test("a background session sends even a form smaller than the memory threshold from a file")
  func background() async throws {
    let configuration = URLSessionConfiguration.background(withIdentifier: "test.multipart")
    configuration.lupineBackground.directory = folder.url
    let manager = SessionManager(configuration: configuration)
    let url = "\(server.url)/echo"
    let result = await firstValue { (completion: @escaping @Sendable (Encoding) -> Void) in
      manager.upload(
        multipartFormData: { $0.append(Data("value".utf8), withName: "field") }, to: url, queue: .global(),
        encodingCompletion: completion)
    }
    guard case .success(let request, true, _?) = result else { return #expect(Bool(false), "\(result)") }
    #expect(await request.object()["body"]?.contains("name=\"field\"\r\n\r\nvalue\r\n") == true)
    withExtendedLifetime(manager) {}
  }

  @Test(
    "if a multipart form can't be encoded, encodingCompletion receives an AFError, whatever the memory threshold",
    arguments: [0, 1_000] as [UInt64])
  func failure(threshold: UInt64) async {
    let missing = folder.url.appendingPathComponent("missing.txt")
    let result = await upload(threshold: threshold) { $0.append(missing, withName: "file") }
    guard case .failure(let error) = result else { return #expect(Bool(false), "\(result)") }
    #expect((error as? AFError)?.isMultipartEncodingError == true)
    #expect((error as? AFError)?.url == missing)
  }

  @Test("an upload of a multipart form replaces the Content-Type of its URLRequest")
  func request() async throws {
    let request = try URLRequest(url: "\(server.url)/echo", method: .put, headers: ["Content-Type": "text/plain"])
    let manager = manager
    let result = await firstValue { (completion: @escaping @Sendable (Encoding) -> Void) in
      manager.upload(
        multipartFormData: { $0.append(Data("v".utf8), withName: "n") }, with: request, queue: .global(),
        encodingCompletion: completion)
    }
    guard case .success(let upload, _, _) = result else { return #expect(Bool(false), "\(result)") }
    #expect(await upload.object()["method"] == "PUT")
    #expect(upload.request?.value(forHTTPHeaderField: "Content-Type")?.hasPrefix("multipart/form-data") == true)
  }

  @Test(
    "the global function upload calls encodingCompletion on the main queue, and passes a failure for an invalid URL")
  func global() async {
    let isInvalid = await withCheckedContinuation { continuation in
      Alamofire4.upload(multipartFormData: { _ in }, to: "") { result in
        dispatchPrecondition(condition: .onQueue(.main))
        guard case .failure(let error) = result else { return continuation.resume(returning: false) }
        continuation.resume(returning: (error as? AFError)?.isInvalidURLError == true)
      }
    }
    #expect(isInvalid)
  }

  @Test("a form contains the parts from data, files and streams in the order in which they were appended")
  func parts() throws {
    let file = folder.url.appendingPathComponent("a.txt")
    try Data("file".utf8).write(to: file)
    func form() -> MultipartFormData {
      let form = MultipartFormData()
      form.append(Data("1".utf8), withName: "data")
      form.append(Data("2".utf8), withName: "typed", mimeType: "text/plain")
      form.append(file, withName: "file")
      form.append(file, withName: "named", fileName: "b.bin", mimeType: "application/x")
      form.append(
        InputStream(data: Data("stream".utf8)), withLength: 6, name: "stream", fileName: "s", mimeType: "text/plain")
      form.append(InputStream(data: Data("own".utf8)), withLength: 3, headers: ["X-B": "2", "X-A": "1"])
      return form
    }
    let first = form()
    #expect(first.contentLength == 1 + 1 + 4 + 4 + 6 + 3)
    #expect(first.contentType == "multipart/form-data; boundary=\(first.boundary)")
    let text = String(decoding: try first.encode(), as: UTF8.self)
    #expect(text.hasPrefix("--\(first.boundary)\r\n") && text.hasSuffix("\r\n--\(first.boundary)--\r\n"))
    #expect(text.contains("X-A: 1\r\nX-B: 2\r\n\r\nown"))
    #expect(text.contains("name=\"named\"; filename=\"b.bin\""))
    let second = form()
    let output = folder.url.appendingPathComponent("form")
    try second.writeEncodedData(to: output)
    let written = String(decoding: try Data(contentsOf: output), as: UTF8.self)
    #expect(written == text.replacingOccurrences(of: first.boundary, with: second.boundary))
    #expect {
      try form().writeEncodedData(to: output)
    } throws: { error in
      guard case .multipartEncodingFailed(.outputStreamFileAlreadyExists)? = error as? AFError else { return false }
      return true
    }
  }
}
