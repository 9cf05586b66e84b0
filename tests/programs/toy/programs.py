"""A right echo server and wrong ones, each with the checks that must fail."""

from __future__ import annotations

RIGHT = """
import socketserver, sys

class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(4096):
            self.request.sendall(data)

socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("", int(sys.argv[1])), Echo).serve_forever()
"""
WRONG = {
    "one client at a time": (RIGHT.replace("ThreadingTCPServer", "TCPServer"), {"two"}),
    "another port": (RIGHT.replace("int(sys.argv[1])", "7007"), {"echoes"}),
}
