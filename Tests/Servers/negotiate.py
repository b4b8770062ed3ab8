"""An origin with Negotiate and TLS on 127.0.0.1, for the tests. Debian's python3-gssapi verifies the tickets with the key in
KRB5_KTNAME. An authentication is valid for its connection, and the clients' channel bindings have to match the certificate.

usage: negotiate.py PORT CERTIFICATE KEY
"""
import sys

import gssapi
from gssapi.raw import ChannelBindings

import origin

# GSS_C_CHANNEL_BOUND_FLAG. Without it, the client has sent no bindings, which the library accepts.
CHANNEL_BOUND = 2048


class Handler(origin.Handler):
    scheme = "Negotiate"

    def step(self, message):
        context = gssapi.SecurityContext(
            usage="accept", channel_bindings=ChannelBindings(application_data=self.application_data))
        reply = context.step(message)
        if context.complete and int(context.actual_flags) & CHANNEL_BOUND:
            self.user = str(context.initiator_name)
        return reply


origin.serve(Handler, *sys.argv[1:])
