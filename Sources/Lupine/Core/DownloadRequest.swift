// A request whose response's body is written into a file.

public import Foundation
import Synchronization

// Unchecked since the superclass is: the added state is constant or in the Mutex.
/// A request that writes its body into a file.
public final class DownloadRequest: Request, @unchecked Sendable {
  /// Looks at a response, and accepts or refuses it; the URL is that of the file, or nil if there is none.
  public typealias Validation = @Sendable (URLRequest?, HTTPURLResponse, URL?) -> ValidationResult

  /// What a download is made of.
  public enum Downloadable {
    /// A request of its own.
    case request(any URLRequestConvertible)
    /// What an earlier download has left behind.
    case resumeData(Data)
  }

  func didFinishDownloading(using task: URLSessionTask, to location: URL, _ fileManager: FileManager) {}
}
