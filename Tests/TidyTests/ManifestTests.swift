// ManifestTests: the products for users contain no code that is only for tests and the demo.

import Foundation
import Testing

@Suite struct ManifestTests {
  /// The contents of Package.swift: each target with its dependencies, and each product with its targets.
  private struct Manifest {
    var dependencies: [String: [String]] = [:]
    var products: [String: [String]] = [:]

    init() throws {
      let text = try String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
      let declaration = /\.(?:library|executable)\(\s*name: "([^"]+)",\s*targets: \[([^\]]*)\]/
      for match in text.matches(of: declaration) { products[String(match.1)] = Self.names(in: match.2) }
      let target =
        /\.(?:target|executableTarget|systemLibrary|testTarget)\(\s*name: "([^"]+)"(?:,\s*dependencies: \[([^\]]*)\])?/
      for match in text.matches(of: target) {
        dependencies[String(match.1)] = match.2.map(Self.names(in:)) ?? []
      }
    }

    private static func names(in list: Substring) -> [String] {
      list.matches(of: /"([^"]+)"/).map { String($0.1) }
    }

    /// Returns the names of all targets that a product contains, including dependencies of its targets.
    func targets(of product: String) -> Set<String> {
      var found: Set<String> = []
      var rest = products[product] ?? []
      while let target = rest.popLast() {
        if found.insert(target).inserted { rest += dependencies[target] ?? [] }
      }
      return found
    }
  }

  @Test("no product of the package except the demo depends on the tests' servers or code")
  func products() throws {
    let manifest = try Manifest()
    #expect(manifest.products.count >= 5)
    let onlyForTests = Set(["CLupineLoopback", "LupineLoopback", "LupineOrigin"])
      .union(SourceTree.tests.map(\.target))
    #expect(manifest.targets(of: "lupine-demo").isSuperset(of: ["LupineLoopback", "LupineOrigin", "CLupineOpenSSL"]))
    // Only the package in Fuzz/ uses the simulation and the comparison of JSON decoders as products.
    let others = ["lupine-demo", "LupineSimulation", "LupineJSONDifferential"]
    for product in manifest.products.keys where !others.contains(product) {
      let targets = manifest.targets(of: product)
      #expect(targets.contains("LupineWire") || product == "LupineJSON", "\(product) consists of \(targets.sorted())")
      #expect(targets.isDisjoint(with: onlyForTests), "\(product) ships \(targets.intersection(onlyForTests).sorted())")
    }
  }
}
