// Inbox: the queue of commands from other threads to a shard.

@_spi(Loop) internal import LupineReactor
internal import Synchronization

/// The queue of commands from other threads to a shard. It also assigns the identifiers of the shard's exchanges.
final class Inbox: Sendable {
  private let mailbox = Mailbox<ShardCommand>()
  private let exchangeCount = Atomic<ExchangeID>(0)
  private let isClosed = Atomic<Bool>(false)
  private let wake: @Sendable () -> Void

  /// Creates an inbox. `wake` makes the loop run another iteration. The inbox calls `wake` only when it has received a command
  /// while it was empty.
  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  /// Adds a command to the queue. May be called on any thread.
  func send(_ command: consuming ShardCommand) {
    let isFirst = mailbox.post(command)
    // Checked after posting, so that no command is lost: either the closing shard has taken the command, or the sender sees
    // here that the inbox is closed.
    if isClosed.load(ordering: .sequentiallyConsistent) {
      refuseAll()
    } else if isFirst {
      wake()
    }
  }

  /// Refuses the commands in the queue and all later ones. Called when the shard stops executing commands.
  func stopAccepting() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    refuseAll()
  }

  private func refuseAll() {
    var commands: [ShardCommand] = []
    mailbox.drain(into: &commands)
    for command in commands { refuse(command) }
  }

  /// Notifies the sender of `command` that the shard won't execute it, if the sender expects an answer.
  func refuse(_ command: ShardCommand) {
    switch command {
    case .submit(let submission):
      submission.refuse(EngineError(.shutDown, .setup, submission.request.uri.origin), now: .now)
    case .count(let completion): completion(PoolCounters())
    case .shutDown(_, _, let completion): completion?()
    case .prewarm(_, _, let completion): completion(0)
    case .cancel, .setPaused, .extendWindow, .discardBody, .startTLS, .bodyReady, .resolved, .verified, .refreshed,
      .retain:
      break
    }
  }

  /// Returns the identifier of a new exchange, which is unique within the shard.
  func nextExchangeID() -> ExchangeID {
    exchangeCount.add(1, ordering: .relaxed).newValue
  }

  func drain(into commands: inout [ShardCommand]) {
    mailbox.drain(into: &commands)
  }
}
