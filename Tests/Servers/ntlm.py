"""An origin with NTLM on 127.0.0.1, for the tests. pyspnego verifies the proofs; NTLM_USER_FILE has lines of
DOMAIN:user:password. An authentication is valid for its connection. With a certificate, the origin uses TLS, and the
clients' channel bindings have to match it.

usage: ntlm.py PORT [CERTIFICATE KEY]
"""
import sys

import spnego
from spnego.channel_bindings import GssChannelBindings

import origin


class Handler(origin.Handler):
    scheme = "NTLM"
    context = None

    def step(self, message):
        if message[8:9] == b"\x01":
            bindings = self.application_data and GssChannelBindings(application_data=self.application_data)
            self.context = spnego.server(
                protocol="ntlm", options=spnego.NegotiateOptions.use_ntlm, channel_bindings=bindings)
        reply = self.context.step(message)
        if self.context.complete:
            self.user = self.context.client_principal
        return reply


origin.serve(Handler, *sys.argv[1:])
