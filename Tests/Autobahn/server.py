"""Runs the Autobahn test suite's fuzzing server on 127.0.0.1. For Python 2.7, in which the suite is written.

usage: server.py PORT FOLDER CASE...

FOLDER receives the reports. CASE is a pattern such as 7.*. Prints "ready" when the server listens.
"""

import sys

from autobahntestsuite.fuzzing import startServer
from twisted.internet import reactor

listen = reactor.listenTCP


def listen_on_loopback(port, factory, *arguments, **options):
    result = listen(port, factory, interface="127.0.0.1")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    return result


# The suite itself would listen on every address.
reactor.listenTCP = listen_on_loopback
startServer(
    {
        "url": u"ws://127.0.0.1:" + sys.argv[1],
        "outdir": sys.argv[2],
        "cases": sys.argv[3:],
        "exclude-cases": [],
        "exclude-agent-cases": {},
    },
    None,
)
reactor.run()
