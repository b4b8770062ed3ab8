// LupineCacheSoak: eight processes share a cache's directory while they are killed at random times.
//
//   LupineCacheSoak SECONDS FOLDER CAPACITY [SEED]
//
// Each body says for which URL, which variant and which version it is. The exit status is 1 if a process got a body that
// doesn't belong to its request and its head, if the directory has exceeded its limit, or if a record can't be read at the end.

import Foundation
import Glibc

let arguments = CommandLine.arguments
// Writing beyond the file size limit returns an error, as with a full disk, instead of ending the process.
signal(SIGXFSZ, SIG_IGN)
if arguments.count == 6, arguments[1] == "worker", let port = UInt16(arguments[2]), let capacity = Int(arguments[4]),
  let seed = UInt64(arguments[5])
{
  await Worker(port: port, folder: arguments[3], capacity: capacity, seed: seed).run()
}
guard arguments.count >= 4, let seconds = Int(arguments[1]), let capacity = Int(arguments[3]), seconds > 0 else {
  print("usage: LupineCacheSoak SECONDS FOLDER CAPACITY [SEED]")
  exit(2)
}
let soak = try CacheSoak(
  program: "/proc/self/exe", folder: arguments[2], capacity: capacity,
  seed: arguments.count > 4 ? UInt64(arguments[4]) ?? 1 : 1)
let faults = try soak.run(seconds: seconds)
for fault in faults { print("fault: \(fault)") }
fflush(nil)
exit(faults.isEmpty ? 0 : 1)
