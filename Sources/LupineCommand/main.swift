// The command `lupine`: a small curl on LupineEngine, without Foundation.

import Glibc

// A closed pipe then shows as EPIPE of the write, which ends the transfer like any other write error.
signal(SIGPIPE, SIG_IGN)
Descriptor.occupyStandardOnes()
let code = await Command.run(CommandLine.arguments)
// Everything is written. OpenSSL's exit handler would take its tables away from the loop's thread, which still runs.
_exit(code.rawValue)
