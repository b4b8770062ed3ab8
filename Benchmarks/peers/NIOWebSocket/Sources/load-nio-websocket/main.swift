// WebSocket messages through NIOWebSocket on one event loop: connections that each send a message and wait until the server has
// returned it. Uses NIOAsyncChannel, the form for Swift's tasks.

import LoadMeasure
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

let load = Load.fromCommandLine()
typealias Socket = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

do {
  // ws://HOST:PORT/PATH
  let parts = load.url.dropFirst("ws://".count).split(separator: "/", maxSplits: 1)
  let authority = parts[0].split(separator: ":")
  guard authority.count == 2, let port = Int(authority[1]) else { Load.fail("the URL has no port") }
  let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  var sockets: [Socket] = []
  for _ in 0..<load.inFlight { sockets.append(try await connect(String(authority[0]), port, loops)) }
  let all = sockets
  let tickets = Tickets(load.requests)
  let warmUp = Tickets(load.warmUp)
  // The streams of a NIOAsyncChannel are usable in one scope only, so the warm-up is part of each task. The measurement starts when
  // all have finished it.
  let gate = Gate(all.count)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for socket in all {
      group.addTask {
        try await socket.executeThenClose { inbound, outbound in
          var answers = inbound.makeAsyncIterator()
          try await exchange(warmUp, &answers, outbound, socket.channel.allocator)
          await gate.pass()
          try await exchange(tickets, &answers, outbound, socket.channel.allocator)
          await gate.finish(tickets)
        }
      }
    }
    try await group.waitForAll()
  }
} catch {
  Load.fail("\(error)")
}

/// Starts the measurement when all tasks have arrived, and ends it when all have finished.
actor Gate {
  private var missing: Int
  private var running: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var measurement: Measurement?

  init(_ count: Int) { (missing, running) = (count, count) }

  func pass() async {
    missing -= 1
    guard missing == 0 else { return await withCheckedContinuation { waiters.append($0) } }
    measurement = Measurement()
    for waiter in waiters { waiter.resume() }
  }

  func finish(_ tickets: Tickets) {
    running -= 1
    if running == 0 { measurement?.finish(tickets) }
  }
}

struct WrongMessage: Error {}

func connect(_ host: String, _ port: Int, _ loops: MultiThreadedEventLoopGroup) async throws -> Socket {
  let upgraded: EventLoopFuture<Socket> = try await ClientBootstrap(group: loops)
    .channelOption(.socketOption(.tcp_nodelay), value: 1)
    .connect(host: host, port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        let upgrader = NIOTypedWebSocketClientUpgrader<Socket?>(maxFrameSize: 1 << 20) { channel, _ in
          channel.eventLoop.makeCompletedFuture { try Socket(wrappingChannelSynchronously: channel) }
        }
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        head.headers.add(name: "Host", value: "\(host):\(port)")
        head.headers.add(name: "Content-Length", value: "0")
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Socket?>(
          upgradeRequestHead: head, upgraders: [upgrader],
          notUpgradingCompletionHandler: { channel in channel.eventLoop.makeSucceededFuture(nil) })
        return try channel.pipeline.syncOperations
          .configureUpgradableHTTPClientPipeline(configuration: .init(upgradeConfiguration: configuration))
          .flatMapThrowing { socket in
            guard let socket else { throw WrongMessage() }
            return socket
          }
      }
    }
  return try await upgraded.get()
}

func exchange(
  _ tickets: Tickets, _ answers: inout NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator,
  _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>, _ allocator: ByteBufferAllocator
) async throws {
  let message = (0..<load.expectedBytes).map { UInt8(truncatingIfNeeded: $0) }
  while let ticket = tickets.take() {
    let payload = allocator.buffer(bytes: message)
    try await outbound.write(WebSocketFrame(fin: true, opcode: .binary, maskKey: .random(), data: payload))
    guard let answer = try await answers.next(), answer.opcode == .binary, answer.data == payload else {
      throw WrongMessage()
    }
    tickets.finish(ticket)
  }
}
