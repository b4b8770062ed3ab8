// Registry: a set of objects without hashing, such as the tasks of a session that haven't completed.

internal import Synchronization

/// An object that can be a member of one registry at a time.
@usableFromInline package protocol RegistryMember: AnyObject, Sendable {
  var registrySlot: RegistrySlot { get }
}

/// The storage for a member's index in a registry. Only the registry changes this index.
@usableFromInline package struct RegistrySlot: ~Copyable, Sendable {
  private let atomic = Atomic(-1)

  package init() {}

  /// The member's index in the registry's array `members`, or -1 if the member isn't in a registry.
  @usableFromInline var index: Int {
    get { atomic.load(ordering: .relaxed) }
    nonmutating set { atomic.store(newValue, ordering: .relaxed) }
  }

  /// Whether the member is in a registry.
  var isOccupied: Bool { index >= 0 }
}

/// A set of objects. Each member stores its own index, so that insertion and removal take constant time without hashing.
@usableFromInline package struct Registry<Member: RegistryMember>: Sendable {
  /// The members, in no particular order.
  @usableFromInline package private(set) var members: [Member] = []

  package init() {}

  @inlinable package func contains(_ member: Member) -> Bool {
    members.indices.contains(member.registrySlot.index) && members[member.registrySlot.index] === member
  }

  /// Adds a member. Has no effect if the member is already in the registry.
  @inlinable package mutating func insert(_ member: Member) {
    guard !contains(member) else { return }
    member.registrySlot.index = members.count
    members.append(member)
  }

  /// Removes a member. Returns false if the member isn't in the registry.
  @inlinable package mutating func remove(_ member: Member) -> Bool {
    guard contains(member), let last = members.popLast() else { return false }
    if last !== member {
      members[member.registrySlot.index] = last
      last.registrySlot.index = member.registrySlot.index
    }
    member.registrySlot.index = -1
    return true
  }
}
