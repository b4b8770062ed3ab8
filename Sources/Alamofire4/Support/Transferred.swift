// Transferred: passes closures to queues although Alamofire 4 declares neither them nor their values as Sendable.

import Dispatch
import Foundation
import LupineURLSession

// Unchecked because Alamofire 4's programs pass closures that aren't Sendable. A closure is used only on the queue to which it
// is passed.
/// Passes a value that isn't Sendable to another queue. Only the code on that queue may use the value afterward.
struct Transferred<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

extension DispatchQueue {
  func perform(_ work: @escaping () -> Void) {
    let work = Transferred(work)
    async { work.value() }
  }

  func perform(after seconds: TimeInterval, _ work: @escaping () -> Void) {
    let work = Transferred(work)
    asyncAfter(deadline: .after(max(0, seconds))) { work.value() }
  }
}

extension OperationQueue {
  func perform(_ work: @escaping () -> Void) {
    let work = Transferred(work)
    addOperation { work.value() }
  }
}
