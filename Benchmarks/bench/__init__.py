"""Compares Lupine with other HTTP clients: the same work against the same nginx, in turns, in one run.

The server has core 0 for itself, each client core 1. Python's standard library alone; installs nothing.

machine        the two cores: who uses them, how much
server         the nginx that all clients talk to, and its addresses
fixtures       the files and certificates that it serves, made for the run
clients        the programs that are measured: how each is built and called
cases          what a workload is made of
workloads      what the clients are asked to do, and which figures must hold
measurement    one run of one program
tables         samples into Markdown
command_line   the options, and the order of everything
"""
