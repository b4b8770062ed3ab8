// Tasks that send a body of bytes, of a file or of a stream.

import Foundation

// Unchecked for the same reason as its superclass.
/// A data task that sends a body, whatever body its request has.
///
/// Behind a redirect that keeps the body, behind a challenge, and where a connection turned out to be closed, the body is sent
/// again from its start.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
  private let ownContent: UploadContent

  init(_ session: URLSession, _ request: URLRequest, _ content: UploadContent, identifier: Int) {
    ownContent = content
    super.init(session, request, identifier: identifier)
  }

  override var content: UploadContent? { ownContent }
}

/// What an upload task sends.
enum UploadContent: Sendable {
  case data(Data)
  /// Its length is that which it has when the task starts.
  case file(URL)
  /// Streams that the delegate gives.
  case stream
}
