// `fuzz TARGET [libFuzzer's options] [CORPUS...]` runs a target. Without a known target, it lists all targets.

import CLibFuzzer
import Glibc

// The target is passed in an environment variable, because libFuzzer restarts this program with only its own options (-merge,
// -jobs).
if CommandLine.arguments.count > 1, let target = FuzzTarget.all.first(where: { $0.name == CommandLine.arguments[1] }) {
  setenv(FuzzTarget.variable, target.name, 1)
}
guard let target = FuzzTarget.ofEnvironment else {
  for target in FuzzTarget.all { print("\(target.name)  \(target.summary)") }
  exit(2)
}
target.prepare()

var options = CommandLine.arguments
if options.count > 1, options[1] == target.name { options.remove(at: 1) }
// The array has one more element, because C expects a null pointer at the end.
let values = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: options.count + 1)
for (index, option) in options.enumerated() { values[index] = strdup(option) }
values[options.count] = nil
var count = CInt(options.count)
var vector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = values

exit(
  LLVMFuzzerRunDriver(&count, &vector) { data, size in
    FuzzTarget.chosen.run([UInt8](UnsafeBufferPointer(start: data, count: size)))
    return 0
  })
