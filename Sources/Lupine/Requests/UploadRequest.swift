// A request with a body of bytes, of a file or of a stream.

public import Foundation
import LupineURLSession
import Synchronization

// Unchecked since the superclass is: the added state is constant or in the Mutex.
/// A data request that sends a body.
public final class UploadRequest: DataRequest, @unchecked Sendable {
  // Unchecked since InputStream isn't Sendable: a stream belongs to the request once it was given to it, and is touched on
  // one queue at a time, as BodyStream says.
  /// What is sent.
  public enum Uploadable: @unchecked Sendable {
    /// Bytes in memory.
    case data(Data)
    /// A file, which is removed afterwards if `shouldRemove`.
    case file(URL, shouldRemove: Bool)
    /// A stream that hasn't been opened; leave it alone from now on. It is read once, so that a request that would have to be
    /// sent again fails, unless a subclass of `InputStream` can be opened again after it was closed.
    case stream(InputStream)
  }

  private struct Body {
    var uploadable: Uploadable?
    /// Files that are to be removed in the end, those of earlier rounds included.
    var files: Set<URL> = []
    var isCleanedUp = false
  }

  /// What the body is made of, in each round.
  public let upload: any UploadableConvertible
  /// Removes files that aren't needed any more.
  public let fileManager: FileManager

  private let body = Mutex(Body())

  init(
    _ convertible: any URLRequestConvertible, _ upload: any UploadableConvertible, _ session: any RequestSession,
    _ shouldAutomaticallyResume: Bool?, _ fileManager: FileManager
  ) {
    self.upload = upload
    self.fileManager = fileManager
    super.init(convertible, session: session, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// What is sent; nil before it was made. What is set counts as long as no task was made.
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
    // The request was cancelled meanwhile: nobody else will remove the file.
    if isLate { cleanup() }
  }

  override func prepareBody() throws {
    do {
      let uploadable = try upload.createUploadable()
      use(uploadable)
      root.perform(.atOnce) { [self] in uploadMonitors?.request(self, didCreateUploadable: uploadable) }
    } catch {
      let error = error.asAFError(or: .createUploadableFailed(error: error))
      root.perform(.atOnce) { [self] in uploadMonitors?.request(self, didFailToCreateUploadableWithError: error) }
      throw error
    }
  }

  override func makeTask(_ request: URLRequest, in session: URLSession) -> URLSessionTask {
    switch uploadable {
    case .data(let data): session.uploadTask(with: request, from: data)
    case .file(let url, _): session.uploadTask(with: request, fromFile: url)
    case .stream: session.uploadTask(withStreamedRequest: request)
    // Somebody has set it to nil.
    case nil: session.uploadTask(with: request, from: Data())
    }
  }

  /// The stream that is read from its start now, if a stream is sent; on the underlying queue.
  func inputStream() -> InputStream? {
    guard case .stream(let stream) = uploadable else { return nil }
    uploadMonitors?.request(self, didProvideInputStream: stream)
    return stream
  }

  /// Removes the files that were to be sent and removed.
  public override func cleanup() {
    super.cleanup()
    let files = body.withLock { body in
      body.isCleanedUp = true
      return body.files.take()
    }
    for file in files { try? fileManager.removeItem(at: file) }
  }
}

/// What an upload can be made of.
public protocol UploadableConvertible: Sendable {
  /// Makes what is sent; called on the session's request queue in each round, behind the adapters.
  ///
  /// What it throws reaches the response handlers as `AFError.createUploadableFailed(error:)`, if it isn't an `AFError`.
  func createUploadable() throws -> UploadRequest.Uploadable
}

extension UploadRequest.Uploadable: UploadableConvertible {
  /// Itself.
  public func createUploadable() -> UploadRequest.Uploadable { self }
}

/// What both a request and its body can be made of.
public protocol UploadConvertible: UploadableConvertible, URLRequestConvertible {}

/// Receives the events of uploads alone.
protocol UploadRequestMonitor: RequestMonitor {
  func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)
  func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)
  func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)
}

extension UploadRequest {
  private var uploadMonitors: (any UploadRequestMonitor)? { monitors.flatMap { $0 as? any UploadRequestMonitor } }
}

extension Set {
  /// Empties the set.
  fileprivate mutating func take() -> Set {
    defer { self = [] }
    return self
  }
}
