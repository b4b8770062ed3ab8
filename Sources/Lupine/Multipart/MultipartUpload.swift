// `MultipartUpload`: a multipart form as the body of an upload, encoded once, in memory or in a temporary file.

import Foundation
import Glibc
import LupineURLSession
import Synchronization

// Unchecked because MultipartFormData isn't Sendable. It is accessed only with the Mutex held, and the caller must not change it
// before the request has finished.
/// A form and its request.
final class MultipartUpload: UploadConvertible, @unchecked Sendable {
  private let form: MultipartFormData
  private let request: any URLRequestConvertible
  private let memoryThreshold: UInt64
  private let fileManager: FileManager
  /// The result of encoding. It is kept because a stream in the form can be read only once.
  private let result = Mutex<Result<UploadRequest.Uploadable, any Error>?>(nil)

  init(
    _ form: MultipartFormData, with request: any URLRequestConvertible, memoryThreshold: UInt64,
    fileManager: FileManager
  ) {
    self.form = form
    self.request = request
    self.memoryThreshold = memoryThreshold
    self.fileManager = fileManager
  }

  func asURLRequest() throws -> URLRequest {
    var urlRequest = try request.asURLRequest()
    urlRequest.headers.update(.contentType(result.withLock { _ in form.contentType }))
    return urlRequest
  }

  func createUploadable() throws -> UploadRequest.Uploadable {
    try result.withLock { result in
      if let result { return try result.get() }
      let made = Result { try encode() }
      result = made
      return try made.get()
    }
  }

  private func encode() throws -> UploadRequest.Uploadable {
    if form.contentLength < memoryThreshold { return .data(try form.encode()) }
    let file = try makeFolder().appendingPathComponent(UUID().uuidString)
    try form.writeEncodedData(to: file)
    return .file(file, shouldRemove: true)
  }

  /// Creates a directory that belongs to the current user. In a shared temporary directory, the default name may belong to
  /// another user.
  private func makeFolder() throws -> URL {
    let base = fileManager.temporaryDirectory
    var failure: any Error = CocoaError(.fileWriteNoPermission, userInfo: [NSFilePathErrorKey: base.path])
    for name in ["org.alamofire.manager", "org.alamofire.manager.\(geteuid())"] {
      let outer = base.appendingPathComponent(name, isDirectory: true)
      let inner = outer.appendingPathComponent("multipart.form.data", isDirectory: true)
      do {
        try fileManager.createDirectory(
          at: inner, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        if try isOwn(outer), try isOwn(inner) { return inner }
      } catch {
        failure = error
      }
    }
    throw failure
  }

  private func isOwn(_ folder: URL) throws -> Bool {
    // attributesOfItem returns the attributes of a symbolic link, not of its target.
    let attributes = try fileManager.attributesOfItem(atPath: folder.path)
    let owner = attributes[.ownerAccountID] as? NSNumber
    return attributes[.type] as? FileAttributeType == .typeDirectory && owner?.uint32Value == geteuid()
  }
}

extension MultipartFormData {
  /// Creates a form and passes it to `fill`.
  convenience init(_ fileManager: FileManager, filledBy fill: (MultipartFormData) -> Void) {
    self.init(fileManager: fileManager)
    fill(self)
  }
}
