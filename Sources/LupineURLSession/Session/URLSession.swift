// What tasks have in common: a configuration, an engine, a delegate and the queue on which it is called.

public import Foundation
import Synchronization

// Unchecked since the class is open: all state is constant or in the Mutex.
/// Makes tasks and tells its delegate of them.
///
/// A session keeps its delegate until it has been invalidated and its last task has ended.
open class URLSession: NSObject, @unchecked Sendable {
  /// What is to become of a response's body.
  public enum ResponseDisposition: Int, Sendable {
    /// It isn't wanted: the task ends as if it were cancelled.
    case cancel = 0
    /// It is handed over as it comes.
    case allow = 1
  }

  private enum Life {
    case valid
    /// No more tasks are made; when the last one has ended, the delegate is told.
    case invalidating
    case invalid
  }

  /// The delegate by what it wants to hear of; asked once, since a cast at each call costs more than the call.
  final class Delegates: Sendable {
    let session: any URLSessionDelegate
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let download: (any URLSessionDownloadDelegate)?
    let selective: (any SelectiveDataDelegate)?

    init(_ delegate: any URLSessionDelegate) {
      session = delegate
      task = delegate as? any URLSessionTaskDelegate
      data = delegate as? any URLSessionDataDelegate
      download = delegate as? any URLSessionDownloadDelegate
      selective = delegate as? any SelectiveDataDelegate
    }
  }

  private struct MutableState {
    var life = Life.valid
    var delegates: Delegates?
    /// The tasks that haven't ended.
    var tasks = Registry<URLSessionTask>()
    var taskCount = 0
    var sessionDescription: String?
    var fileTransfers: ReadyTransfers?
  }

  /// A session with the default configuration and without a delegate, shared by the whole program.
  open class var shared: URLSession { sharedSession }

  /// The queue on which the delegate is called.
  public let delegateQueue: OperationQueue

  package let client: EngineClient
  /// Runs work on the delegate queue.
  package let delivery: SerialQueue
  /// The transfers that deliver on the delegate queue.
  let readyTransfers: ReadyTransfers
  private let settings: URLSessionConfiguration
  private let mutableState: Mutex<MutableState>

  private static let sharedSession = URLSession(configuration: .default)

  /// Makes a session without a delegate.
  public convenience init(configuration: URLSessionConfiguration) {
    self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
  }

  /// Makes a session.
  ///
  /// - Parameters:
  ///   - configuration: copied, so that later changes have no effect.
  ///   - delegate: kept until the session has become invalid.
  ///   - queue: where the delegate is called, one call at a time; a serial queue of its own if nil. If it runs one
  ///     operation at a time, a queue of the program's own beneath it has to be serial, too.
  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {
    settings = configuration.copy() as? URLSessionConfiguration ?? configuration
    delegateQueue = queue ?? OperationQueue(serial: DispatchQueue(label: "lupine.session.delegate"))
    client = EngineClient(settings.snapshot)
    delivery = SerialQueue(delegateQueue)
    readyTransfers = ReadyTransfers(on: delivery)
    mutableState = Mutex(MutableState(delegates: delegate.map(Delegates.init)))
  }

  /// The configuration; changing it has no effect on the session.
  open var configuration: URLSessionConfiguration {
    settings.copy() as? URLSessionConfiguration ?? settings
  }

  /// Who is told of the tasks; nil once the session has become invalid.
  open var delegate: (any URLSessionDelegate)? { delegates?.session }

  var delegates: Delegates? { mutableState.withLock { $0.delegates } }

  /// A text of the caller's own.
  open var sessionDescription: String? {
    get { mutableState.withLock { $0.sessionDescription } }
    set { mutableState.withLock { $0.sessionDescription = newValue } }
  }

  /// How many tasks haven't ended, and whether others can be made.
  open override var description: String {
    let name = sessionDescription.map { "\($0), " } ?? ""
    let state = isValid ? "valid" : "invalidated"
    return "\(type(of: self))(\(name)\(ReadableText.count(tasks.count, "task")), \(state))"
  }

  // MARK: Tasks

  /// Makes a task, suspended, whose body is handed over as it comes.
  open func dataTask(with request: URLRequest) -> URLSessionDataTask {
    add(URLSessionDataTask(self, request, identifier: nextTaskIdentifier()))
  }

  /// Makes a task, suspended, that sends bytes; the request's own body isn't sent.
  open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
    add(URLSessionUploadTask(self, request, .data(bodyData), identifier: nextTaskIdentifier()))
  }

  /// Makes a task, suspended, that sends a file as it is when the task starts; the request's own body isn't sent.
  ///
  /// The task completes with a `URLError` if there is no such file, or if it becomes shorter while it is sent.
  open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
    add(URLSessionUploadTask(self, request, .file(fileURL), identifier: nextTaskIdentifier()))
  }

  /// Makes a task, suspended, that sends a stream, for which the delegate is asked each time that it is to be read from its
  /// start; the request's own body isn't sent.
  ///
  /// A Content-Length field says how many bytes it has, and it is an error then if there are more or fewer; without one they
  /// are sent chunked.
  open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
    add(URLSessionUploadTask(self, request, .stream, identifier: nextTaskIdentifier()))
  }

  /// Makes a task, suspended, whose body is written into a file.
  open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
    add(URLSessionDownloadTask(self, request: request, identifier: nextTaskIdentifier()))
  }

  /// Makes a task, suspended, that goes on where an earlier one was stopped, with what that has left behind.
  ///
  /// It completes with `URLError.cannotOpenFile` if the data can't be read. If its file is gone or the resource has
  /// changed, everything is asked for anew.
  open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
    add(URLSessionDownloadTask(self, resumeData: resumeData, identifier: nextTaskIdentifier()))
  }

  /// The transfers that deliver on the session's file queue. It writes one download after the other, so that nothing else
  /// waits for a slow disk.
  var fileTransfers: ReadyTransfers {
    mutableState.withLock { state in
      if let transfers = state.fileTransfers { return transfers }
      let transfers = ReadyTransfers(on: SerialQueue(DispatchQueue(label: "lupine.session.files")))
      state.fileTransfers = transfers
      return transfers
    }
  }

  /// Adds a task that was just made. One that is made of an invalid session fails when it is resumed.
  func add<Task: URLSessionTask>(_ task: Task) -> Task {
    mutableState.withLock { state in
      guard state.life == .valid else { return }
      state.tasks.insert(task)
    }
    return task
  }

  /// A number that no other task of the session has; the first is 1.
  func nextTaskIdentifier() -> Int {
    mutableState.withLock { state in
      state.taskCount += 1
      return state.taskCount
    }
  }

  /// Whether the task may be run.
  package func owns(_ task: URLSessionTask) -> Bool { mutableState.withLock { $0.tasks.contains(task) } }

  /// A task has ended and its delegate was told.
  func remove(_ task: URLSessionTask) {
    let isLast = mutableState.withLock { state in
      state.tasks.remove(task) && state.life == .invalidating && state.tasks.members.isEmpty
    }
    if isLast { becomeInvalid() }
  }

  /// Calls `completionHandler` on the delegate queue with the tasks that haven't ended.
  @preconcurrency
  open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
    delivery.perform { completionHandler(self.tasks) }
  }

  /// Calls `completionHandler` on the delegate queue with the tasks that haven't ended, by kind.
  @preconcurrency
  open func getTasksWithCompletionHandler(
    _ completionHandler:
      @escaping @Sendable (
        [URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]
      ) -> Void
  ) {
    delivery.perform {
      let tasks = self.tasks
      let uploads = tasks.compactMap { $0 as? URLSessionUploadTask }
      let data = tasks.filter { !($0 is URLSessionUploadTask) }.compactMap { $0 as? URLSessionDataTask }
      completionHandler(data, uploads, tasks.compactMap { $0 as? URLSessionDownloadTask })
    }
  }

  private var tasks: [URLSessionTask] {
    mutableState.withLock { $0.tasks.members }.sorted { $0.taskIdentifier < $1.taskIdentifier }
  }

  // MARK: Invalidation

  /// Whether tasks can be made.
  package var isValid: Bool { mutableState.withLock { $0.life == .valid } }

  /// Makes no more tasks; when those that there are have ended, the delegate is told and let go of.
  open func finishTasksAndInvalidate() { invalidate(cancelling: false) }

  /// Makes no more tasks and cancels those that there are; then the delegate is told and let go of.
  open func invalidateAndCancel() { invalidate(cancelling: true) }

  private func invalidate(cancelling: Bool) {
    let (tasks, isOver) = mutableState.withLock { state -> ([URLSessionTask], Bool) in
      guard state.life == .valid else { return (cancelling ? state.tasks.members : [], false) }
      state.life = .invalidating
      return (cancelling ? state.tasks.members : [], state.tasks.members.isEmpty)
    }
    for task in tasks { task.cancel() }
    if isOver { becomeInvalid() }
  }

  private func becomeInvalid() {
    delivery.perform {
      let delegates = self.mutableState.withLock { state in
        state.life = .invalid
        return state.delegates
      }
      delegates?.session.urlSession(self, didBecomeInvalidWithError: nil)
      self.mutableState.withLock { $0.delegates = nil }
      self.client.close()
    }
  }
}
