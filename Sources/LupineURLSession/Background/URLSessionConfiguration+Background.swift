// The settings of background sessions, whose tasks continue in a later process.

extension URLSessionConfiguration {
  /// Returns a new configuration for a background session. The session records its downloads and uploads on disk, so that a later
  /// process can continue them.
  ///
  /// If a later process creates a session with the same identifier, that session contains the unfinished tasks of the earlier
  /// process. It continues these tasks and delivers their events to its delegate:
  ///
  /// ```swift
  /// final class Saver: NSObject, URLSessionDownloadDelegate {
  ///   func urlSession(
  ///     _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ///   ) {
  ///     let target = URL(filePath: "/srv/mirror").appending(path: downloadTask.taskDescription ?? "unnamed")
  ///     _ = try? FileManager.default.replaceItemAt(target, withItemAt: location)
  ///   }
  /// }
  ///
  /// let mirror = URLSession(
  ///   configuration: .background(withIdentifier: "com.example.mirror"), delegate: Saver(), delegateQueue: nil)
  /// ```
  ///
  /// Only one session can use an identifier at a time. A second session with the identifier, in the same process or in another,
  /// becomes invalid with `URLError.backgroundSessionInUseByAnotherProcess`.
  ///
  /// - Parameter identifier: The identifier, unique for this user, such as `com.example.mirror`. Its length must be 1 to 255
  ///   bytes. Letters, digits, hyphens, underscores and full stops count as one byte each, and every other byte counts as three.
  public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration()
    configuration.change { $0.background.identifier = identifier }
    return configuration
  }

  /// The identifier of a background session's configuration, or nil for other configurations.
  public var identifier: String? { snapshot.background.identifier }

  /// Whether a background session's transfers have a lower priority than other transfers. False by default.
  ///
  /// If true, a background session opens only one connection to each host and port, regardless of
  /// ``httpMaximumConnectionsPerHost``. The session doesn't wait for a better time, because Linux has no service that could
  /// schedule transfers. The property has no effect on other sessions.
  public var isDiscretionary: Bool {
    get { snapshot.background.isDiscretionary }
    set { change { $0.background.isDiscretionary = newValue } }
  }

  /// Whether a background session calls ``URLSessionDelegate/urlSessionDidFinishEvents(forBackgroundURLSession:)`` when the tasks
  /// of earlier processes have completed. True by default. Unlike on Apple's systems, no program is launched.
  public var sessionSendsLaunchEvents: Bool {
    get { snapshot.background.sendsLaunchEvents }
    set { change { $0.background.sendsLaunchEvents = newValue } }
  }

  /// Lupine's settings for background sessions, such as the directory of their records. Foundation has no such property.
  public var lupineBackground: LupineBackgroundSettings {
    get { snapshot.background.settings }
    set { change { $0.background.settings = newValue } }
  }
}
