// The list of those that are under way, against a set; and who is in which session's.

import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite("Registry") struct RegistryTests {
  private final class Member: RegistryMember {
    let place = RegistryPlace()
  }

  @Test("it has whom a set has, whoever comes and goes, at once or twice")
  func comingAndGoing() {
    var generator = SystemRandomNumberGenerator()
    let members = (0..<40).map { _ in Member() }
    var (registry, set) = (Registry<Member>(), Set<ObjectIdentifier>())
    for _ in 0..<2_000 {
      guard let member = members.randomElement(using: &generator) else { continue }
      if Bool.random(using: &generator) {
        registry.insert(member)
        set.insert(ObjectIdentifier(member))
      } else {
        #expect(registry.remove(member) == (set.remove(ObjectIdentifier(member)) != nil))
      }
      #expect(registry.members.count == set.count)
      #expect(Set(registry.members.map { ObjectIdentifier($0) }) == set)
      #expect(members.allSatisfy { registry.contains($0) == set.contains(ObjectIdentifier($0)) })
    }
  }

  @Test("whoever is in another registry isn't in this one, though the place is taken")
  func another() {
    let (one, other) = (Member(), Member())
    var (registry, another) = (Registry<Member>(), Registry<Member>())
    registry.insert(one)
    another.insert(other)
    #expect(!registry.contains(other) && !registry.remove(other))
    #expect(registry.members.count == 1 && another.contains(other))
  }

  @Test("a request that another session is told of is let go of by its own, and never kept by the other")
  func anotherSession() async throws {
    try await withServer { _ in
      Reply()
    } _: { origin in
      try await withSession { session in
        try await withSession { other in
          let request = session.request(origin.url)
          other.readyToPerform(request: request)
          _ = await request.serializingString(emptyResponseCodes: [200]).response
          other.cleanup(after: request)
          #expect(await session.running.isEmpty)
          #expect(await other.running.isEmpty)
        }
      }
    }
  }
}
