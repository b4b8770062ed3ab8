// TransferHandle: the commands to a transfer's exchange, with the engine or with the session's cache.

import LupineEngine

/// The handle of a transfer's exchange: an `ExchangeHandle` of the engine, or a `CacheExchange`.
protocol TransferHandle: Sendable {
  func cancel()
  func pause()
  func resume()
  func discardBody()
  func extendWindow(by byteCount: Int)
}

extension ExchangeHandle: TransferHandle {}

extension CacheExchange: TransferHandle {
  func pause() { setPaused(true) }
  func resume() { setPaused(false) }
}
