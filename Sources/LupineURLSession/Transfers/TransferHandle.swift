// TransferHandle: the commands to a transfer's exchange, with the engine or with the session's cache.

import LupineEngine

enum TransferHandle: Sendable {
  case engine(ExchangeHandle)
  case cache(CacheExchange)

  func cancel() {
    switch self {
    case .engine(let handle): handle.cancel()
    case .cache(let exchange): exchange.cancel()
    }
  }

  func setPaused(_ isPaused: Bool) {
    switch self {
    case .engine(let handle): isPaused ? handle.pause() : handle.resume()
    case .cache(let exchange): exchange.setPaused(isPaused)
    }
  }

  func discardBody() {
    switch self {
    case .engine(let handle): handle.discardBody()
    case .cache(let exchange): exchange.discardBody()
    }
  }

  func extendWindow(by byteCount: Int) {
    switch self {
    case .engine(let handle): handle.extendWindow(by: byteCount)
    case .cache(let exchange): exchange.extendWindow(by: byteCount)
    }
  }
}
