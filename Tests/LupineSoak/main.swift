// LupineSoak: sends mixed requests for a given time, restarts their servers during that time, and reports lost requests
// and growth of the process.
//
//   LupineSoak SECONDS PICTURE [SEED]
//
// PICTURE is the path of an SVG file that is written at the end. The exit status is 1 if a request was lost or had a
// wrong outcome, or if memory, descriptors or threads have grown after the warm-up.

import Foundation
import Glibc

let arguments = CommandLine.arguments
guard arguments.count >= 3, let seconds = Int(arguments[1]), seconds >= 8 else {
  print("usage: LupineSoak SECONDS PICTURE [SEED]; at least 8 seconds")
  exit(2)
}
let seed = arguments.count > 3 ? UInt64(arguments[3]) ?? 1 : 1
let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-soak-\(UUID())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
setenv("TMPDIR", folder.path, 1)

let soak = try Soak(seconds: seconds, seed: seed, folder: folder)
let verdict = await soak.run()
try Picture(soak.samples.all, warmUp: soak.warmUp, title: verdict.title).text
  .write(toFile: arguments[2], atomically: true, encoding: .utf8)
try FileManager.default.removeItem(at: folder)
print(verdict)
print("picture: \(arguments[2])")
// If a sanitizer ends the process at exit, it discards buffered output.
fflush(nil)
exit(verdict.isGood ? 0 : 1)
