// What the kernel says of this process's threads.

import Foundation

/// How many threads have a name that begins so: those of engines with "lupine-loop", all of Lupine's with "lupine-".
package func threadCount(named prefix: String) -> Int {
  let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return threads.count { thread in
    let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
    return name?.hasPrefix(prefix) == true
  }
}
