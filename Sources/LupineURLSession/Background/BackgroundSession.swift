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
  /// The store of the tasks' records on disk, or the error if the store couldn't be opened.
  let store: Result<TransferStore, URLError>
  /// Whether this process has recreated the unfinished tasks of earlier processes.
  let isRestored = Atomic(false)
  /// The identifiers of those tasks that an earlier process resumed and that haven't completed yet.
  let restored = Mutex<Set<Int>>([])

  /// Opens the records of the background session's tasks, which may block the thread on disk I/O. Returns nil if `settings` don't
  /// belong to a background session.
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

  /// Closes the store of the tasks' records, so that another session with the same identifier can open it.
  func close() { (try? store.get())?.close() }
}
