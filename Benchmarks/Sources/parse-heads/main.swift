// Parses all heads of ResponseHeads repeatedly, so that callgrind can count the instructions.

import LupineEngine
import ResponseHeads

guard CommandLine.arguments.count == 2, let repeats = Int(CommandLine.arguments[1]) else {
  fatalError("usage: parse-heads REPEATS")
}
var count = 0
for _ in 0..<repeats {
  for head in ResponseHeads.all { count += ResponseHeads.parse(head).fields.count }
}
print(count, "fields")
