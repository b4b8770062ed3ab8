// Registry: insertion and removal, compared with a Set, and the requests in a session's registry.

import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite("The registry of a session's requests") struct RegistryTests {
  private final class Member: RegistryMember {
    let registrySlot = RegistrySlot()
  }

  @Test("after random and repeated insertions and removals, a request registry has the same members as a Set")
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

  @Test("a request registry doesn't confuse a request with another registry's request that has the same index")
  func another() {
    let (one, other) = (Member(), Member())
    var (registry, another) = (Registry<Member>(), Registry<Member>())
    registry.insert(one)
    another.insert(other)
    #expect(!registry.contains(other) && !registry.remove(other))
    #expect(registry.members.count == 1 && another.contains(other))
  }

  @Test("after a request was also passed to another session, both sessions release the request when it ends")
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
