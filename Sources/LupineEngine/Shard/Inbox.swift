// The way into a shard from other threads.

@_spi(Loop) internal import LupineReactor
internal import Synchronization

/// Commands for a shard, in order, and the identifiers of its exchanges.
final class Inbox: Sendable {
  private let mailbox = Mailbox<ShardCommand>()
  private let exchangeCount = Atomic<ExchangeID>(0)
  private let isClosed = Atomic<Bool>(false)
  private let wake: @Sendable () -> Void

  /// `wake` makes the loop take another turn; called only if nothing had been waiting.
  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  /// Sends a command, from any thread.
  func send(_ command: ShardCommand) {
    let isFirst = mailbox.post(command)
    // Behind the post: either the closing shard has seen the command, or the sender sees here that it was closed.
    if isClosed.load(ordering: .sequentiallyConsistent) {
      refuseAll()
    } else if isFirst {
      wake()
    }
  }

  /// The shard takes no more commands: their senders are answered here.
  func close() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    refuseAll()
  }

  private func refuseAll() {
    var commands: [ShardCommand] = []
    mailbox.take(into: &commands)
    for command in commands { refuse(command) }
  }

  /// Answers the sender of a command that nobody carries out any more.
  func refuse(_ command: ShardCommand) {
    switch command {
    case .submit(let submission):
      var metrics = ExchangeMetrics(start: .now)
      metrics.end = metrics.start
      submission.sink.finish(.failure(EngineError(.shutDown, .setup, submission.request.uri.origin)), metrics)
    case .count(let completion): completion(PoolCounters())
    case .shutDown(_, let completion): completion?()
    case .cancel, .setPaused, .grant, .discardBody, .bodyReady, .resolved: break
    }
  }

  /// An identifier that no other exchange of the shard has.
  func nextExchangeID() -> ExchangeID {
    exchangeCount.add(1, ordering: .relaxed).newValue
  }

  func take(into commands: inout [ShardCommand]) {
    mailbox.take(into: &commands)
  }
}
