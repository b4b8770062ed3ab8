// main: uses all dependencies. Prints one line, which Tests/Packages/run compares.

import Calls
import Life
import Plain
import Unrelated

let limit = await runService(of: try makeEngine())
print(try convertedURI("http://a.test/p"), limit.map { "\($0)" } ?? "none", level())
