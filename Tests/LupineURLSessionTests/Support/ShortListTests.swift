// ShortListTests: `ShortList`, which stores a single element without an array, compared with an array.

import Testing

@testable import LupineURLSession

@Suite("ShortList, compared with an array")
struct ShortListTests {
  @Test("a ShortList contains the elements that were appended, in order", arguments: 0...4)
  func appended(count: Int) {
    var list: ShortList<String> = []
    var array: [String] = []
    for number in 0..<count {
      list.append("\(number)")
      array.append("\(number)")
    }
    #expect(Array(list) == array)
    #expect(list.count == count)
    #expect(list.indices.map { list[$0] } == array)
    #expect(list.first == array.first)
    #expect(list.last == array.last)
    #expect(list.isEmpty == array.isEmpty)
  }

  @Test("appending an element to a ShortList doesn't change a copy of the list", arguments: 0...3)
  func copied(count: Int) {
    var list: ShortList<Int> = []
    for number in 0..<count { list.append(number) }
    let copy = list
    list.append(-1)
    #expect(Array(copy) == Array(0..<count))
    #expect(Array(list) == Array(0..<count) + [-1])
  }

  @Test("popFirst and popLast of a ShortList remove its elements one by one, and don't change a copy", arguments: 0...4)
  func popped(count: Int) {
    var list: ShortList<Int> = []
    for number in 0..<count { list.append(number) }
    var (fromFirst, fromLast) = (list, list)
    for number in 0..<count {
      #expect(fromFirst.popFirst() == number)
      #expect(Array(fromFirst) == Array((number + 1)..<count))
      #expect(fromLast.popLast() == count - 1 - number)
      #expect(Array(fromLast) == Array(0..<(count - 1 - number)))
    }
    #expect(fromFirst.popFirst() == nil)
    #expect(fromLast.popLast() == nil)
    #expect(Array(list) == Array(0..<count))
  }

  @Test("an array literal creates a ShortList of the literal's elements")
  func literal() {
    #expect(Array(["a"] as ShortList) == ["a"])
    #expect(Array(["a", "b"] as ShortList) == ["a", "b"])
  }

  @Test("accessing a ShortList at an index out of range traps")
  func outside() async {
    await #expect(processExitsWith: .failure) {
      let list: ShortList<Int> = []
      _ = list[0]
    }
    await #expect(processExitsWith: .failure) {
      var list: ShortList<Int> = []
      list.append(1)
      _ = list[1]
    }
  }
}
