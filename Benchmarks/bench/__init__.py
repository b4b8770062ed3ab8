"""Compares Lupine with other HTTP clients: in one run, all take turns at the same work against the same nginx.

The server runs on core 0, and each client on core 1. Requires only Python's standard library; doesn't install anything.

machine        the two cores and their load
server         the nginx server of all clients, and its addresses
fixtures       the files and certificates that it serves, created for the run
clients        the measured programs: how to build and run each
cases          the types that a workload consists of
workloads      the workloads and their targets
measurement    one run of one program
tables         formats samples as Markdown
command_line   the options, and the sequence of steps
"""
