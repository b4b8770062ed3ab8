// What stands above the wire: the form encoder, and the deadlines of a loop.

import Lupine
@_spi(Loop) import LupineReactor

enum OtherBenchmarks {
  static func all() -> [Benchmark] {
    [form(), timer(among: 1), timer(among: 10_000)]
  }

  private struct Order: Encodable {
    struct Item: Encodable {
      var name: String
      var count: Int
      var isGift: Bool
    }
    var customer = "Ada Lovelace"
    var reference = "größe & menge = 100 %"
    var total = 129.5
    var tags = ["express", "paid", "export"]
    var items = [Item(name: "Lupin seeds", count: 3, isGift: false), Item(name: "Flower pot", count: 1, isGift: true)]
  }

  private static func form() -> Benchmark {
    let encoder = URLEncodedFormEncoder()
    let order = Order()
    return Benchmark(name: "encode a form of 11 values") { repeats in
      for _ in 0..<repeats {
        let text: String? = try? encoder.encode(order)
        keep(text)
      }
    }
  }

  private static func timer(among count: Int) -> Benchmark {
    var queue = DeadlineQueue<Int>()
    for key in 0..<count - 1 { queue.set(key, to: Instant(nanoseconds: UInt64(key) * 1_000_000)) }
    var key = count
    return Benchmark(name: "set and cancel a timer, \(count) set") { repeats in
      for _ in 0..<repeats {
        key += 1
        queue.set(key, to: Instant(nanoseconds: UInt64(key % 60_000) * 1_000_000))
        queue.remove(key)
      }
    }
  }
}
