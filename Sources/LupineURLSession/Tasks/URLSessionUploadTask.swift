// URLSessionUploadTask: a task that sends bytes, a file or a stream as its body.

import Foundation

// Unchecked for the same reason as its superclass.
/// A data task that sends a body of its own instead of its request's body.
///
/// Create one with ``URLSession/uploadTask(with:from:)``, ``URLSession/uploadTask(with:fromFile:)`` or
/// ``URLSession/uploadTask(withStreamedRequest:)``. The body is sent again from its start after a redirect that keeps
/// the
/// method, after a challenge, and if a reused connection turns out to be closed.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
  private let ownContent: UploadContent?

  init(_ session: URLSession, _ request: URLRequest, _ content: UploadContent, identifier: Int) {
    ownContent = content
    super.init(session, request, identifier: identifier)
  }

  /// Creates a task without a session, for a subclass that stands in for a real task in a test. It never sends anything.
  public override init() {
    ownContent = nil
    super.init()
  }

  override var content: UploadContent? { ownContent }
}

/// The body of an upload task.
enum UploadContent: Sendable {
  case data(Data)
  /// A file, whose length is determined when the task starts.
  case file(URL)
  /// A stream, which the delegate provides.
  case stream
}
