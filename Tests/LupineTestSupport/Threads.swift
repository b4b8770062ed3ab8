// Threads: the threads of this process, as the kernel lists them.

import Foundation

/// Returns the number of threads of this process whose name begins with `prefix`. The threads of engines begin with "lupine-loop",
/// and all threads of Lupine with "lupine-".
package func threadCount(named prefix: String) -> Int {
  let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return threads.count { thread in
    let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
    return name?.hasPrefix(prefix) == true
  }
}
