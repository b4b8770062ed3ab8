// Tasks whose body is written into a file.

public import Foundation

// Unchecked for the same reason as its superclass.
/// A task whose response's body is written into a file.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
