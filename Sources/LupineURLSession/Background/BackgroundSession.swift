// BackgroundSession: the part of a URLSession that records its tasks, and tracks those from earlier processes.

import Foundation
import LupineEngine
import LupineTransferStore
import Synchronization

/// The records of a background session's tasks.
final class BackgroundSession: Sendable {
  let options: BackgroundOptions
  let redirectRule: RedirectRule
  let timeoutIntervalForResource: TimeInterval
  /// The store of the tasks' records, or the error that prevented opening it.
  let store: Result<TransferStore, URLError>
  /// Whether the unfinished tasks of earlier processes have been created again in this process.
  private let isRestored = Atomic(false)
  /// The identifiers of tasks that earlier processes have resumed and that haven't completed.
  private let restored = Mutex<Set<Int>>([])

  /// Opens the tasks' records. May block the thread on disk I/O. Returns nil if the session has no identifier.
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

  /// Returns whether this call must restore the tasks, which is true only for the first call.
  func takeRestoration() -> Bool { !isRestored.exchange(true, ordering: .relaxed) }

  func addRestored(_ identifiers: [Int]) { restored.withLock { $0.formUnion(identifiers) } }

  /// Called after a task has completed. Returns whether the session must notify its delegate that the last task of earlier
  /// processes has completed.
  func completed(_ identifier: Int) -> Bool {
    let isLast = restored.withLock { $0.remove(identifier) != nil && $0.isEmpty }
    return isLast && options.sendsLaunchEvents
  }

  /// Closes the tasks' records, so that another session with the same identifier can open them.
  func close() { (try? store.get())?.close() }
}
