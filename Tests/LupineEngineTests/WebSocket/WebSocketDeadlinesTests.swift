// WebSocketDeadlinesTests: pings, missing answers and the end after a Close frame.

import LupineReactor
import LupineWebSocket
import Testing

@testable import LupineEngine

@Suite("WebSocket deadlines")
struct WebSocketDeadlinesTests {
  private let start = Instant.now

  private func deadlines(ping: Duration?) -> WebSocketDeadlines {
    var timeouts = WebSocketTimeouts()
    (timeouts.pingInterval, timeouts.pong, timeouts.close) = (ping, .seconds(3), .seconds(5))
    return WebSocketDeadlines(timeouts, openedAt: start)
  }

  @Test("without a ping interval, an open connection has no deadline")
  func none() {
    var deadlines = deadlines(ping: nil)
    deadlines.received(at: start + .seconds(1))
    #expect(deadlines.next == nil && deadlines.expire(at: start + .seconds(1000)) == nil)
  }

  @Test("a ping is sent after each interval of silence, and a missing answer is noticed in time")
  func pings() {
    var deadlines = deadlines(ping: .seconds(10))
    #expect(deadlines.next == start + .seconds(10))
    deadlines.received(at: start + .seconds(4))
    #expect(deadlines.expire(at: start + .seconds(10)) == nil)
    #expect(deadlines.expire(at: start + .seconds(14)) == .sendPing)
    #expect(deadlines.next == start + .seconds(17))
    deadlines.received(at: start + .seconds(16))
    #expect(deadlines.expire(at: start + .seconds(17)) == nil)
    #expect(deadlines.expire(at: start + .seconds(26)) == .sendPing)
    #expect(deadlines.expire(at: start + .seconds(29)) == .pongIsMissing(after: .seconds(3)))
  }

  @Test("a violation of the protocol has a time limit, which received bytes don't extend")
  func failing() {
    var deadlines = deadlines(ping: .seconds(10))
    deadlines.failing(at: start)
    deadlines.received(at: start + .seconds(4))
    #expect(deadlines.expire(at: start + .seconds(5)) == .failureIsDue)
    deadlines.closing(at: start + .seconds(5))
    #expect(deadlines.expire(at: start + .seconds(10)) == .closeIsMissing)
  }

  @Test("after a Close frame, only the end of the connection is awaited, and received bytes don't extend the time")
  func closing() {
    var deadlines = deadlines(ping: .seconds(10))
    deadlines.closing(at: start)
    deadlines.received(at: start + .seconds(4))
    deadlines.closing(at: start + .seconds(4))
    #expect(deadlines.expire(at: start + .seconds(4)) == nil)
    #expect(deadlines.expire(at: start + .seconds(5)) == .closeIsMissing)
  }
}
