// PoolModelTests: long random histories of the pool, checked against the model's rules.

import Foundation
import LupineTestSupport
import LupineWire
import Testing

@testable import LupineEngine
@testable import LupineSimulation

@Suite("The connection pool with random histories")
struct PoolModelTests {
  /// The seeds of the random histories. LUPINE_POOL_SEED selects a single one.
  static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["LUPINE_POOL_SEED"].flatMap(UInt64.init).map { [$0] }
    ?? Array(1...UInt64(repetitions(of: 16)))

  @Test(
    "after 5,000 random events, the connection pool has broken no rule, and no request or connection is left",
    arguments: seeds)
  func history(seed: UInt64) throws {
    var model = PoolModel(seed: seed)
    for _ in 0..<5_000 { try model.step() }
    if seed % 3 == 0 { try model.shutDown() } else { try model.finish() }
    // If one of these outcomes is missing, the random events cover too little.
    #expect(Set(model.endings.values).isSuperset(of: ["served", "failed", "cancelled"]), "seed \(seed)")
  }

  @Test(
    "the random events that test the connection pool cause each reason for closing a connection that its model knows")
  func reasons() throws {
    var reasons: Set<CloseReason> = []
    for seed in 1...24 as ClosedRange<UInt64> {
      var model = PoolModel(seed: seed)
      for _ in 0..<1_000 { try model.step() }
      try model.shutDown()
      reasons.formUnion(model.reasons)
    }
    let wanted: Set<CloseReason> = [
      .keepAliveLimit, .idleTimeout, .idleLimit, .ageLimit, .usesLimit, .addressWithdrawn, .totalLimit,
      .descriptorsNeeded, .shutdown,
    ]
    #expect(reasons.isSuperset(of: wanted), "missing: \(wanted.subtracting(reasons).map(\.rawValue))")
  }
}
