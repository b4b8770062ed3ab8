// main: the command `lupine`, a small curl on LupineEngine, without Foundation.

import LupineLibc

// With SIGPIPE ignored, a write to a closed pipe fails with EPIPE, which ends the transfer like any other write error.
signal(SIGPIPE, SIG_IGN)
Descriptor.occupyStandardOnes()
let code = await Command.run(CommandLine.arguments)
// All output is written. _exit skips OpenSSL's exit handler, which would free tables that the loop's thread still uses.
_exit(code.rawValue)
