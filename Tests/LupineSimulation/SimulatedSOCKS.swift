// SimulatedSOCKS: the proxy's side of a SOCKS 5 handshake (RFC 1928, RFC 1929).

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineWire

/// The proxy's side of a simulated SOCKS 5 handshake. It checks the client's greeting, credentials and connection request.
struct SimulatedSOCKS {
  private enum State {
    case greeting, credentials, request
  }

  private let hasCredentials: Bool
  /// Whether the client resolves host names itself, so that the proxy must receive only addresses.
  private let isLocal: Bool
  private var state = State.greeting

  init(isLocal: Bool, _ schedule: Schedule) {
    self.isLocal = isLocal
    hasCredentials = schedule.proxy?.user != nil
  }

  /// Parses the client's next complete message, and removes it from `bytes`. Returns the proxy's answer, and the index of the
  /// origin once the tunnel is open. Returns nil if more bytes are needed.
  mutating func receive(_ bytes: inout [UInt8], _ world: World) -> (answer: [UInt8], origin: Int?)? {
    switch state {
    case .greeting:
      guard bytes.count >= 2, bytes.count >= 2 + Int(bytes[1]) else { return nil }
      bytes.removeFirst(2 + Int(bytes[1]))
      state = hasCredentials ? .credentials : .request
      return ([5, hasCredentials ? 2 : 0], nil)
    case .credentials:
      let expected =
        [1, UInt8(Schedule.proxyUser.utf8.count)] + Array(Schedule.proxyUser.utf8)
        + [UInt8(Schedule.proxyPassword.utf8.count)] + Array(Schedule.proxyPassword.utf8)
      guard bytes.count >= expected.count else { return nil }
      world.require(bytes.starts(with: expected), "the proxy received wrong credentials")
      bytes.removeFirst(expected.count)
      state = .request
      return ([1, 0], nil)
    case .request: return receiveRequest(&bytes, world)
    }
  }

  private func receiveRequest(_ bytes: inout [UInt8], _ world: World) -> (answer: [UInt8], origin: Int?)? {
    guard bytes.count >= 5 else { return nil }
    let addressCount =
      switch bytes[3] {
      case 1: 4
      case 4: 16
      default: 1 + Int(bytes[4])
      }
    guard bytes.count >= 4 + addressCount + 2 else { return nil }
    let address = Array(bytes[4..<4 + addressCount])
    let host = bytes[3] == 3 ? String(decoding: address.dropFirst(), as: UTF8.self) : nil
    bytes.removeFirst(4 + addressCount + 2)
    let origin = world.schedule.origins.firstIndex { origin in
      origin.origin.host == host || origin.addresses.contains { IPAddress($0)?.bytes == address }
    }
    world.require(origin != nil, "a proxy was asked for \(host ?? "\(address)"), which has no host")
    world.require(host == nil || !isLocal, "the proxy received the name \(host ?? "")")
    return ([5, 0, 0, 1, 0, 0, 0, 0, 0, 0], origin)
  }
}
