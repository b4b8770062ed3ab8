// `MultipartUpload`: a multipart form for an upload, encoded once, in memory or in a temporary file.

package import Foundation
import LupineLibc
import LupineURLSession
import Synchronization

// Unchecked because MultipartFormData isn't Sendable. It is accessed only with the Mutex held, and the caller must not change it
// before the request has finished.
/// A multipart form, and the request that uploads it.
final class MultipartUpload: URLRequestConvertible, @unchecked Sendable {
  /// The place of an encoded form.
  enum EncodedForm {
    case memory(Data)
    case temporaryFile(URL)
  }

  private let form: MultipartFormData
  private let request: any URLRequestConvertible
  /// The size of the form, in bytes, from which the form is encoded to a file instead of memory.
  private let memoryThreshold: UInt64
  private let fileManager: FileManager
  /// The result of encoding the form, or nil before the form is encoded. Retries use the same result, because a stream in the form
  /// can be read only once.
  private let result = Mutex<Result<EncodedForm, any Error>?>(nil)

  init(
    _ form: MultipartFormData, with request: any URLRequestConvertible, memoryThreshold: UInt64,
    isInBackgroundSession: Bool, fileManager: FileManager
  ) {
    self.form = form
    self.request = request
    // In a background session, the form is always encoded to a file, because such sessions upload only files.
    self.memoryThreshold = isInBackgroundSession ? 0 : memoryThreshold
    self.fileManager = fileManager
  }

  func asURLRequest() throws -> URLRequest {
    var urlRequest = try request.asURLRequest()
    urlRequest.headers.update(.contentType(result.withLock { _ in form.contentType }))
    return urlRequest
  }

  func encodedForm() throws -> EncodedForm {
    try result.withLock { result in
      if let result { return try result.get() }
      let made = Result { try encode() }
      result = made
      return try made.get()
    }
  }

  private func encode() throws -> EncodedForm {
    if form.contentLength < memoryThreshold { return .memory(try form.encode()) }
    let file = try MultipartFolder.make(fileManager).appendingPathComponent(UUID().uuidString)
    try form.writeEncodedData(to: file)
    return .temporaryFile(file)
  }
}

/// The directory of the temporary files to which multipart forms are encoded.
package enum MultipartFolder {
  /// The name of the directory that is used if other users have created those with the predictable names. Nobody can guess it.
  private static let randomName = "org.alamofire.manager.\(UUID().uuidString)"

  /// Creates a directory that only the current user can change, and returns its URL. If a directory with the default name belongs
  /// to another user, as in a shared temporary directory, uses another name.
  package static func make(_ fileManager: FileManager) throws -> URL {
    let base = fileManager.temporaryDirectory
    var failure: any Error = CocoaError(.fileWriteNoPermission, userInfo: [NSFilePathErrorKey: base.path])
    for name in ["org.alamofire.manager", "org.alamofire.manager.\(geteuid())", randomName] {
      let outer = base.appendingPathComponent(name, isDirectory: true)
      let inner = outer.appendingPathComponent("multipart.form.data", isDirectory: true)
      do {
        for folder in [outer, inner] {
          try fileManager.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        if try isOwn(outer, fileManager), try isOwn(inner, fileManager) { return inner }
      } catch {
        failure = error
      }
    }
    throw failure
  }

  /// The permissions of the group and of other users to write.
  private static let othersWriteMask: UInt32 = 0o022

  private static func isOwn(_ folder: URL, _ fileManager: FileManager) throws -> Bool {
    // attributesOfItem returns the attributes of a symbolic link, not of its target.
    let attributes = try fileManager.attributesOfItem(atPath: folder.path)
    let owner = attributes[.ownerAccountID] as? NSNumber
    let mode = (attributes[.posixPermissions] as? NSNumber)?.uint32Value ?? othersWriteMask
    return attributes[.type] as? FileAttributeType == .typeDirectory && owner?.uint32Value == geteuid()
      && mode & othersWriteMask == 0
  }
}

extension MultipartFormData {
  /// Creates a form, and calls `fill` to append the parts to it.
  convenience init(_ fileManager: FileManager, filledBy fill: (MultipartFormData) -> Void) {
    self.init(fileManager: fileManager)
    fill(self)
  }
}
