// DownloadRequest: a request whose response body is written to a file.

public import Dispatch
public import Foundation
import Lupine
public import LupineURLSession

// Unchecked because the superclass is. All state is constant.
/// A request whose response body is written to a file.
open class DownloadRequest: Request, @unchecked Sendable {
  /// Options for moving a downloaded file to its destination.
  public struct DownloadOptions: OptionSet, Sendable {
    /// Creates missing directories in the path of the destination before the downloaded file is moved there.
    public static let createIntermediateDirectories = DownloadOptions(rawValue: 1 << 0)
    /// Replaces an existing file at the destination with the downloaded file.
    public static let removePreviousFile = DownloadOptions(rawValue: 1 << 1)

    /// The download options as a bit mask.
    public let rawValue: UInt

    /// Creates download options from a bit mask.
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }

  /// A closure that returns the destination of a downloaded file, and the options for moving the file there.
  public typealias DownloadFileDestination =
    (_ temporaryURL: URL, _ response: HTTPURLResponse) -> (destinationURL: URL, options: DownloadOptions)

  let downloadDelegate: DownloadTaskDelegate

  init(
    session: URLSession, source: TaskSource?, task: URLSessionTask?, destination: DownloadFileDestination?,
    error: (any Error)? = nil
  ) {
    downloadDelegate = DownloadTaskDelegate(destination: destination, error: error)
    super.init(session: session, source: source, task: task, delegate: downloadDelegate)
  }

  /// The `URLRequest` of the request's latest task. If no task exists because the adapter failed, the original `URLRequest`.
  open override var request: URLRequest? { super.request ?? source?.request }

  /// The data for resuming a cancelled or failed download, or nil if the download can't be resumed.
  open var resumeData: Data? { downloadDelegate.files.resumeData }

  /// The progress of receiving the file.
  open var progress: Progress { downloadDelegate.progress.progress }

  /// Cancels the download. If the server supports resuming, the part of the file received so far isn't deleted, so that the
  /// download can be resumed.
  open override func cancel() { cancel(createResumeData: true) }

  /// Cancels the download. Unless `createResumeData` is true, the part of the file received so far is deleted.
  open func cancel(createResumeData: Bool) {
    cancel { task in
      guard createResumeData, let task = task as? URLSessionDownloadTask else { return task.cancel() }
      task.cancel { [downloadDelegate] data in downloadDelegate.keep(resumeData: data) }
    }
  }

  /// Sets the closure that is called with the progress of the download, on the main queue by default. If
  /// bytes have already been transferred, the closure is called with the current progress.
  @discardableResult
  open func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
    downloadDelegate.progress.call(on: queue, closure)
    return self
  }

  /// Returns a closure that chooses a destination in `directory`, with the file name that the server suggests. If the directory
  /// doesn't exist, such as `~/Documents` on a server, it is created before the file is moved there.
  open class func suggestedDownloadDestination(
    for directory: FileManager.SearchPathDirectory = .documentDirectory,
    in domain: FileManager.SearchPathDomainMask = .userDomainMask
  ) -> DownloadFileDestination {
    let suggest = Lupine.DownloadRequest.suggestedDownloadDestination(for: directory, in: domain)
    return { temporaryURL, response in
      let (url, options) = suggest(temporaryURL, response)
      return (url, options.contains(.createIntermediateDirectories) ? .createIntermediateDirectories : [])
    }
  }

  /// Returns a closure that chooses a destination in `directory`, as the class method of the same name does.
  public func suggestedDownloadDestination(
    for directory: FileManager.SearchPathDirectory = .documentDirectory,
    in domain: FileManager.SearchPathDomainMask = .userDomainMask
  ) -> DownloadFileDestination {
    Self.suggestedDownloadDestination(for: directory, in: domain)
  }
}
