// Benchmark of the form encoder.

import Benchmark
import Lupine

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

func form() {
  Benchmark("encode a form of 11 values") { benchmark in
    let encoder = URLEncodedFormEncoder()
    let order = Order()
    for _ in benchmark.scaledIterations {
      let text: String = try encoder.encode(order)
      blackHole(text)
    }
  }
}
