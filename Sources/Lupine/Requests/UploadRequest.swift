// UploadRequest: a request with a body from data, a file or a stream.

public import Foundation
import LupineURLSession
import Synchronization

// Unchecked because the superclass is. The added state is constant or protected by the Mutex.
/// A data request that uploads a request body from memory, a file or a stream.
public final class UploadRequest: DataRequest, @unchecked Sendable {
  // Unchecked because InputStream isn't Sendable. The request owns the stream once it has received it, and BodyStream uses the
  // stream on only one queue at a time.
  /// The source of a request body to upload.
  public enum Uploadable: @unchecked Sendable {
    /// The request body is data in memory.
    case data(Data)
    /// The request body is the content of a file. If `shouldRemove` is true, the file is deleted when the request has finished.
    case file(URL, shouldRemove: Bool)
    /// The request body is read from a stream that isn't open yet. The caller must not use the stream afterward. The stream is read
    /// once, so a request that must be sent again fails, unless the stream's class allows opening the stream again after closing
    /// it.
    case stream(InputStream)
  }

  private struct Body {
    var uploadable: Uploadable?
    /// The uploaded files to delete when the request has finished, including those of earlier attempts.
    var files: Set<URL> = []
    var isCleanedUp = false
  }

  /// The value that each attempt converts to the request body.
  public let upload: any UploadableConvertible
  /// The file manager that deletes files that are no longer needed.
  public let fileManager: FileManager

  private let body = Mutex(Body())

  init(
    _ convertible: any URLRequestConvertible, _ upload: any UploadableConvertible, _ session: Session,
    _ shouldAutomaticallyResume: Bool?, _ fileManager: FileManager
  ) {
    self.upload = upload
    self.fileManager = fileManager
    super.init(convertible, session: session, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// The source of the request body, or nil before it has been created. Setting a new value has an effect only before the task is
  /// created.
  public var uploadable: Uploadable? {
    get { body.withLock { $0.uploadable } }
    set { use(newValue) }
  }

  private func use(_ uploadable: Uploadable?) {
    let isLate = body.withLock { body in
      body.uploadable = uploadable
      if case .file(let url, shouldRemove: true) = uploadable { body.files.insert(url) }
      return body.isCleanedUp
    }
    // The request was cancelled in the meantime, so no later cleanup deletes the file.
    if isLate { cleanup() }
  }

  override func prepareBody() throws {
    do {
      let uploadable = try upload.createUploadable()
      use(uploadable)
      root.perform(.immediate) { [self] in monitors?.request(self, didCreateUploadable: uploadable) }
    } catch {
      let error = error.asAFError(or: .createUploadableFailed(error: error))
      root.perform(.immediate) { [self] in
        // The monitors may read the error. A request that has ended in the meantime keeps its own.
        mutableState.withLock { $0.error = $0.error ?? error }
        monitors?.request(self, didFailToCreateUploadableWithError: error)
      }
      throw error
    }
  }

  override func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    switch uploadable {
    case .data(let data): session.uploadTask(with: request, from: data)
    case .file(let url, _): session.uploadTask(with: request, fromFile: url)
    case .stream: session.uploadTask(withStreamedRequest: request)
    // The body is nil only if the program has set `uploadable` to nil.
    case nil: session.uploadTask(with: request, from: Data())
    }
  }

  override func inputStream() -> InputStream? {
    queues.assertOnRoot()
    guard case .stream(let stream) = uploadable else { return nil }
    monitors?.request(self, didProvideInputStream: stream)
    return stream
  }

  /// Deletes the uploaded files that must be removed after the upload.
  public override func cleanup() {
    super.cleanup()
    let files = body.withLock { body in
      defer { body.files = [] }
      body.isCleanedUp = true
      return body.files
    }
    for file in files { try? fileManager.removeItem(at: file) }
  }
}

/// A value that can be converted to the body of an upload.
public protocol UploadableConvertible: Sendable {
  /// Creates the request body. Called on the session's request queue in each attempt, after the adapters have run.
  ///
  /// - Throws: Any error. Response handlers receive it as `AFError.createUploadableFailed(error:)`, unless it is an `AFError`.
  func createUploadable() throws -> UploadRequest.Uploadable
}

extension UploadRequest.Uploadable: UploadableConvertible {
  /// Returns this value, which already is a request body.
  public func createUploadable() -> UploadRequest.Uploadable { self }
}

/// A value that can be converted to both a `URLRequest` and the body to upload with it.
public protocol UploadConvertible: UploadableConvertible, URLRequestConvertible {}

extension MultipartUpload: UploadConvertible {
  func createUploadable() throws -> UploadRequest.Uploadable {
    switch try encodedForm() {
    case .memory(let data): .data(data)
    case .temporaryFile(let file): .file(file, shouldRemove: true)
    }
  }
}
