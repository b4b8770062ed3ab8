// BackgroundSession: the part of a URLSession that records its tasks, and tracks those from earlier processes.

import Foundation
import LupineEngine
import LupineTransferStore
import Synchronization

/// The part of a background session that records its tasks on disk and tracks the tasks that earlier processes recorded.
final class BackgroundSession: Sendable {
  let options: BackgroundOptions
  let redirectRule: RedirectRule
  let timeoutIntervalForResource: TimeInterval
  /// The store of the tasks' records on disk, or the error because of which it couldn't be opened.
  let store: Result<TransferStore, URLError>
  /// Whether this process has recreated the unfinished tasks of earlier processes.
  private let isRestored = Atomic(false)
  /// The identifiers of the tasks that earlier processes resumed and that haven't completed yet.
  private let restored = Mutex<Set<Int>>([])

  /// Opens the records of the session's tasks, which may block the thread on disk I/O. Returns nil if the session isn't a
  /// background session.
  init?(_ settings: URLSessionConfiguration.Snapshot) {
    guard let identifier = settings.background.identifier else { return nil }
    options = settings.background
    redirectRule = settings.redirectRule
    timeoutIntervalForResource = settings.timeoutIntervalForResource
    guard let folder = options.folder else {
      store = .failure(.unusableIdentifier(identifier))
      return
    }
    do throws(TransferStoreError) {
      store = .success(try TransferStore(folder: folder))
    } catch {
      store = .failure(.backgroundSession(identifier, folder, error))
    }
  }

  var retryRule: BackgroundRetryRule {
    BackgroundRetryRule(delayMin: options.settings.retryDelayMin, delayMax: options.settings.retryDelayMax)
  }

  // MARK: Tasks of earlier processes

  /// Returns true if this is the first call, so that the caller must restore the tasks of earlier processes. Returns false for all
  /// later calls.
  func takeRestoration() -> Bool { !isRestored.exchange(true, ordering: .relaxed) }

  func addRestored(_ identifiers: [Int]) { restored.withLock { $0.formUnion(identifiers) } }

  /// Notes that a task has completed. Returns whether it was the last of the tasks that earlier processes resumed, so that the
  /// session must notify its delegate.
  func completed(_ identifier: Int) -> Bool {
    let isLast = restored.withLock { $0.remove(identifier) != nil && $0.isEmpty }
    return isLast && options.sendsLaunchEvents
  }

  /// Closes the store of the tasks' records, so that another session with the same identifier can open it.
  func close() { (try? store.get())?.close() }
}
