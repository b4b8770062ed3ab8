// LupineBackgroundFaults: performs the transfers of a background session while the n-th system call fails, for n = 1, 2, … and
// in each way, and checks what is delivered and what a later session finds. CLupineFaults.h describes how calls fail.
//
//   LupineBackgroundFaults FOLDER [GROWTH]
//
// GROWTH is the growth of the steps of n, in hundredths of n. The default of 0 tests every n. The exit status is 1 if a run had
// a problem.

import CLupineFaults
import Foundation

let arguments = CommandLine.arguments
guard arguments.count >= 2, let growth = arguments.count > 2 ? Int(arguments[2]) : 0 else {
  fatalError("usage: LupineBackgroundFaults FOLDER [GROWTH]")
}
guard lupine_faults_begin(arguments[1]) else { fatalError("OpenSSL has already allocated memory") }
exit(try Campaign(folder: URL(filePath: arguments[1]), growth: growth).run() ? 0 : 1)
