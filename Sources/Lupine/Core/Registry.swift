// Those that are under way: a session's requests, an engine session's tasks.

/// What can be in a registry: in one at a time, which alone sets its place.
protocol RegistryMember: AnyObject, Sendable {
  /// Where it stands in its registry, or -1.
  var place: Int { get set }
}

/// Objects that come and go. Each knows its place, so that nobody is hashed or looked for.
struct Registry<Member: RegistryMember>: Sendable {
  /// In no particular order.
  private(set) var members: [Member] = []

  func contains(_ member: Member) -> Bool {
    members.indices.contains(member.place) && members[member.place] === member
  }

  /// Does nothing if it is there already.
  mutating func insert(_ member: Member) {
    guard !contains(member) else { return }
    member.place = members.count
    members.append(member)
  }

  /// Returns whether it was there.
  mutating func remove(_ member: Member) -> Bool {
    guard contains(member), let last = members.popLast() else { return false }
    if last !== member {
      members[member.place] = last
      last.place = member.place
    }
    member.place = -1
    return true
  }
}
