// Shard+Addresses: executes the decisions about the addresses of names that have several.

@_spi(Loop) internal import LupineReactor

extension Shard {
  /// Returns the attempts to connect to `usable`, which are those addresses of the answer `found` that are permitted and reachable, and
  /// the connections that must be withdrawn, because the answer no longer contains their addresses.
  func attempts(
    _ opening: Opening, _ usable: [SocketAddress], of found: [SocketAddress]
  ) -> (HappyEyeballs, withdrawn: [ConnectionID]) {
    guard balance != nil, let port = opening.lookupPort else { return (HappyEyeballs(usable, now: now), []) }
    let name = AddressBalance.Name(host: opening.host, port: port)
    let end = resolver.end(of: name.host)
    let withdrawn = balance?.begin(opening.id, opening.key, name, found, until: end, now: now) ?? []
    watchAddresses()
    let order = balance?.ordered(usable, for: opening.key, now: now) ?? usable
    return (HappyEyeballs(inOrder: order, now: now), withdrawn)
  }

  /// Closes these connections as soon as they are idle. Those that are still being opened are withdrawn when they are open.
  func withdraw(_ ids: [ConnectionID]) {
    for id in ids where connections.pooled[id] != nil { perform(pool.withdraw(id)) }
  }

  /// Looks up the names whose addresses have expired, for the connections to them.
  func refreshAddresses() {
    while let (key, name) = balance?.popExpired(now: now) {
      let overrides = key.traits?.hostOverrides ?? []
      let answer = resolver.lookUp(name.host, port: name.port, overrides, now: now) { [inbox] in
        inbox.send(.refreshed(key, host: name.host, $0))
      }
      if let answer { refreshed(key, name.host, answer) }
    }
    watchAddresses()
  }

  /// Handles the result of a lookup for the connections with this key.
  func refreshed(_ key: PoolKey, _ host: String, _ answer: NameService.Answer) {
    switch answer {
    case .success(let found):
      withdraw(balance?.refresh(key, found, until: resolver.end(of: host), now: now) ?? [])
    case .failure:
      balance?.refreshFailed(key, now: now)
    }
    watchAddresses()
  }

  private func watchAddresses() {
    deadlines.set(.addresses, to: balance?.nextRefresh)
  }
}
