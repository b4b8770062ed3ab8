// Tasks that send a body of bytes, of a file or of a stream.

public import Foundation

// Unchecked for the same reason as its superclass.
/// A data task that sends a body.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
