"""squid's program for NTLM. Each line of input is "YR", "YR token" or "KK token", with a token in base64, and gets one line as its
answer: "TT token", "AF user" or "NA reason". pyspnego verifies the proofs; NTLM_USER_FILE has lines of DOMAIN:user:password.
"""
import base64
import sys

import spnego

context = None
for line in sys.stdin:
    code, *token = line.split()
    try:
        if code == "YR":
            context = spnego.server(protocol="ntlm", options=spnego.NegotiateOptions.use_ntlm)
        reply = context.step(base64.b64decode(token[0]))
        if context.complete:
            answer = f"AF {context.client_principal}"
        else:
            answer = f"TT {base64.b64encode(reply).decode()}"
    except Exception as error:
        answer = "NA " + repr(error).replace("\n", " ")
    print(answer, flush=True)
