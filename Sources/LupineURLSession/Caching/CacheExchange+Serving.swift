// CacheExchange+Serving: delivers a stored response to a transfer, within the transfer's receive window.

import Foundation
import LupineCache
import LupineCacheStore
import LupineEngine
import Synchronization

/// The stored response that is being delivered to the receiver, and how much of its body has been delivered.
struct ServedBody {
  enum Body {
    case data(Data)
    /// The rest of the body is this range of bytes in the body's file. The range isn't empty.
    case file(RecordReader, Range<UInt64>)
  }

  var body: Body
  /// Whether a thread is currently delivering the head or a piece of the body.
  var isBusy = true
  var servedByteCount: UInt64 = 0
  /// The metrics of a request that was sent to the origin before the delivery, for example to validate the stored response. Nil if
  /// no request was sent.
  let metrics: ExchangeMetrics?
}

extension CacheExchange {
  /// Delivers a stored response to the receiver, after updating the metadata of stored responses.
  ///
  /// - Parameters:
  ///   - served: The stored response to serve, with the changes to make first.
  ///   - found: The stored responses to which the indexes in `served` refer.
  ///   - metrics: The metrics of a preceding request to the origin, or nil if no request was sent.
  func serve(_ served: CacheMachine.Served, _ found: [FoundResponse], _ metrics: ExchangeMetrics?) {
    if let forwarding = served.revalidation { revalidate(forwarding, found) }
    guard receiver != nil else {
      update(served.updates, found)
      _ = takeEnd()
      return
    }
    let chosen = found[served.index]
    let head = served.response.head(of: chosen.response)
    switch chosen.body {
    case .memory(let id, let cached):
      stores.memory.use(id)
      update(served.updates, found)
      deliver(head, .data(cached.data.part(served.response.body)), metrics)
    case .file(let id, let file):
      // A lookup that has just opened the file is on the queue already.
      stores.onQueueNow { self.serve(self.stores.open(id, file), head, served, found, metrics) }
    }
  }

  /// Delivers a stored response whose body is in a file. The file was opened before the updates are made, because an update
  /// replaces the file. `file` is nil if it couldn't be opened.
  private func serve(
    _ file: RecordReader?, _ head: ResponseHead, _ served: CacheMachine.Served, _ found: [FoundResponse],
    _ metrics: ExchangeMetrics?
  ) {
    guard let url, let file else { return decideWithoutStored() }
    guard file.response.bodyByteCount > CacheStores.loadedBytesMax else {
      // The entire body is read first, so that a damaged file is noticed before any part is delivered.
      guard let cached = stores.load(file, of: key, for: url) else { return decideWithoutStored() }
      update(served.updates, found)
      return deliver(head, .data(cached.data.part(served.response.body)), metrics)
    }
    update(served.updates, found)
    switch served.response.body {
    case .none: deliver(head, .data(Data()), metrics)
    case .complete: deliver(head, .file(file, 0..<file.response.bodyByteCount), metrics)
    case .part(let range): deliver(head, .file(file, range), metrics)
    }
  }

  /// Updates the metadata of stored responses. Then notifies the requests that wait for this one, so that they look in the cache
  /// again.
  private func update(_ updates: [StoredUpdate], _ found: [FoundResponse]) {
    stores.apply(updates, to: found, of: key)
    state.withLock { $0.lead.take() }?.end(.stored)
  }

  /// Delivers the head of a stored response, and then its body, to the receiver.
  func deliver(_ head: ResponseHead, _ body: ServedBody.Body, _ metrics: ExchangeMetrics?) {
    let isOpen = state.withLock { state in
      guard !state.hasEnded else { return false }
      state.phase = .serving(ServedBody(body: body, metrics: metrics))
      return true
    }
    guard isOpen else { return }
    let disposition = receiver?.receive(served: head) ?? .discard
    state.withLock { state in
      state.served?.isBusy = false
      if case .discard = disposition { state.served?.body = .data(Data()) }
    }
    advance()
  }

  private enum Step {
    case deliver(Data)
    case read(RecordReader, offset: UInt64, countMax: Int)
    /// The stored beginning has been delivered. Extend the engine's window, so that the rest can arrive.
    case receiveRest(ExchangeHandle?, window: Int)
    case end(ExchangeMetrics)
  }

  /// Delivers further pieces of the stored response's body, as many as the receive window permits. Does nothing while another
  /// thread is delivering a piece.
  func advance() {
    var hasDelivered = false
    while let step = state.withLock({ nextStep(&$0) }) {
      switch step {
      case .deliver(let piece):
        receiver?.receive(served: piece)
        hasDelivered = true
        endStep()
      case .read(let file, let offset, let countMax):
        // Other work on the queue may take place between two blocks of a long body.
        return stores.onQueue { self.read(file, from: offset, countMax) }
      case .receiveRest(let handle, let window): handle?.extendWindow(by: window)
      case .end(let metrics):
        receiver?.finish(.success(Fields()), metrics)
        return
      }
    }
    if hasDelivered { receiver?.turnEnded(sentBodyByteCount: 0) }
  }

  private func nextStep(_ state: inout State) -> Step? {
    guard var served = state.served, !served.isBusy else { return nil }
    if case .data(let data) = served.body, data.isEmpty {
      if state.network != nil {
        let window = state.window
        let handle = state.network?.extendWindow(by: window)
        state.network?.beginning = nil
        return .receiveRest(handle, window: window)
      }
      state.phase = .ended
      let local = ExchangeMetrics(
        cachedResponseRequestedAt: start, servedAt: .now, bodyBytes: served.servedByteCount)
      return .end(served.metrics ?? local)
    }
    guard !state.isPaused, state.window > 0 else { return nil }
    served.isBusy = true
    defer { state.served = served }
    switch served.body {
    case .file(let file, let range): return .read(file, offset: range.lowerBound, countMax: state.window)
    case .data(let data):
      // A body that isn't streamed is in memory anyway, so all of it is delivered at once. A stored beginning is delivered within
      // the window, however, because the origin's rest uses the same window.
      let isWhole = if case .serving = state.phase { !isStreamed } else { false }
      let piece = isWhole ? data : data.prefix(state.window)
      served.body = .data(data.dropFirst(piece.count))
      served.servedByteCount += UInt64(piece.count)
      if state.window != .max { state.window -= piece.count }
      return .deliver(piece)
    }
  }

  private func endStep() { state.withLock { $0.served?.isBusy = false } }

  /// Reads the next piece of the body, at most `countMax` bytes, from the file and delivers it. Called on the queue of the cache's
  /// files.
  private func read(_ file: RecordReader, from offset: UInt64, _ countMax: Int) {
    guard let block = try? file.bytes(from: offset) else {
      stores.remove(file)
      return failReading()
    }
    let piece = state.withLock { state -> Data? in
      guard var served = state.served, case .file(_, let range) = served.body else { return nil }
      let piece = block.prefix(min(countMax, range.count))
      let rest = range.dropFirst(piece.count)
      served.body = rest.isEmpty ? .data(Data()) : .file(file, rest)
      served.servedByteCount += UInt64(piece.count)
      if state.window != .max { state.window -= piece.count }
      state.served = served
      return piece
    }
    if let piece { receiver?.receive(served: piece) }
    endStep()
    receiver?.turnEnded(sentBodyByteCount: 0)
    advance()
  }

  /// Ends the exchange with an error because the file of the stored response's body couldn't be read. The exchange can't send the
  /// request to the origin instead, because the receiver already has the stored response's head.
  private func failReading() {
    let isOpen = state.withLock { state in
      guard case .serving = state.phase else { return false }
      state.phase = .ended
      return true
    }
    isOpen ? receiver?.finish(.failure(.interruption(at: request.uri.origin)), localMetrics) : interrupt()
  }
}

extension ServedResponse {
  /// Returns the head to deliver. `stored` is the stored response that is served.
  func head(of stored: StoredResponse) -> ResponseHead {
    ResponseHead(status: status, fields: fields, isContentDecoded: stored.bodyForm == .decoded)
  }
}

extension Data {
  /// Returns the given part of the body, of which this is the complete data.
  func part(_ part: ServedResponse.Body) -> Data {
    switch part {
    case .none: Data()
    case .complete: self
    case .part(let range): dropFirst(Int(range.lowerBound)).prefix(range.count)
    }
  }
}
