// Those that are under way: a session's requests, an engine session's tasks.

package import Synchronization

/// What can be in a registry, in one at a time.
package protocol RegistryMember: AnyObject, Sendable {
  var place: RegistryPlace { get }
}

/// Where a member stands in its registry, which alone sets it.
package struct RegistryPlace: ~Copyable, Sendable {
  @usableFromInline let atomic = Atomic(-1)

  package init() {}

  /// An index of `members`, or -1.
  @inlinable var index: Int {
    get { atomic.load(ordering: .relaxed) }
    nonmutating set { atomic.store(newValue, ordering: .relaxed) }
  }
}

/// Objects that come and go. Each knows its place, so that nobody is hashed or looked for.
package struct Registry<Member: RegistryMember>: Sendable {
  /// In no particular order.
  @usableFromInline package private(set) var members: [Member] = []

  package init() {}

  @inlinable package func contains(_ member: Member) -> Bool {
    members.indices.contains(member.place.index) && members[member.place.index] === member
  }

  /// Does nothing if it is there already.
  @inlinable package mutating func insert(_ member: Member) {
    guard !contains(member) else { return }
    member.place.index = members.count
    members.append(member)
  }

  /// Returns whether it was there.
  @inlinable package mutating func remove(_ member: Member) -> Bool {
    guard contains(member), let last = members.popLast() else { return false }
    if last !== member {
      members[member.place.index] = last
      last.place.index = member.place.index
    }
    member.place.index = -1
    return true
  }
}
