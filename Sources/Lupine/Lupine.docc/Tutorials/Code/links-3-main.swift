import Foundation
import LinkChecker

let checker = LinkChecker()
for link in CommandLine.arguments.dropFirst().compactMap({ URL(string: $0) }) {
  print(link, await checker.failure(of: link) ?? "works")
}
