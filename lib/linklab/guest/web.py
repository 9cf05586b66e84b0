"""A web server, which is nginx, and a browser, which is libcurl: a page with objects, by HTTP/1.0, 1.1, 2 or 3."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import tempfile
import time
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_long, c_size_t, c_void_p
from pathlib import Path
from typing import Any

from linklab.guest.programs.common import act, sleeper, start_at

_CONFIG = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/errors;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    default_type application/octet-stream;
    keepalive_timeout 300s;
    ssl_certificate {folder}/certificate;
    ssl_certificate_key {folder}/key;
    ssl_protocols TLSv1.3;
    ssl_early_data on;
    http2 on;
    server {{
        listen {port} ssl;
        listen {port} quic;
        root {folder}/pages;
    }}
}}
"""
_BASE = "base"
_PAUSE_NS = 1_000_000_000


def serve(port: int, objects: int, base_bytes: int, object_bytes: int) -> None:
    """Become nginx, which serves a base file and objects over TLS 1.3; a child says when it listens."""
    folder = Path(tempfile.mkdtemp())
    os.chmod(folder, 0o755)
    (folder / "pages").mkdir()
    (folder / "certificate").write_text(CERTIFICATE)
    (folder / "key").write_text(KEY)
    for name, count in [(_BASE, base_bytes), *((str(number), object_bytes) for number in range(1, objects + 1))]:
        (folder / "pages" / name).write_bytes(bytes(count))
    (folder / "config").write_text(_CONFIG.format(folder=folder, port=port))
    if os.fork() == 0:
        while not _listens(port):
            time.sleep(0.01)
        print("ready", flush=True)
        os._exit(0)
    os.execvp("nginx", ["nginx", "-p", str(folder), "-e", f"{folder}/errors", "-c", f"{folder}/config"])


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


# --- The browser: libcurl's multi interface, by its numbers in curl/curl.h and curl/multi.h

_URL, _CA_FILE, _VERSION, _WRITE, _RESOLVE, _SHARE = 10002, 10065, 84, 20011, 10203, 10100
_FORBID_REUSE, _WAIT_FOR_PIPE, _TLS_OPTIONS, _EARLY_DATA, _TIMEOUT_S, _IP_VERSION = 75, 237, 216, 1 << 6, 13, 113
_MOST_CONNECTIONS, _SHARED, _TLS_SESSIONS, _EVERYTHING = 7, 1, 4, 3
_NAME_US, _CONNECT_US, _TLS_US, _FIRST_US = 0x600033, 0x600034, 0x600038, 0x600036
_VERSIONS = {"1.0": 1, "1.1": 2, "2": 4, "3": 31}
_IPV4 = 1


class _Message(Structure):
    _fields_ = (("kind", c_int), ("handle", c_void_p), ("result", c_int))


_Sink = ctypes.CFUNCTYPE(c_size_t, c_void_p, c_size_t, c_size_t, c_void_p)
_forget = _Sink(lambda _data, size, count, _user: size * count)


def load(
    gate: str,
    later_ns: int,
    address: str,
    port: int,
    http: str,
    connections: int,
    objects: int,
    visits: int,
    early_data: bool,
    by_name: bool,
    wait_s: int,
) -> None:
    """Load the page, and after a pause again over new connections; TLS sessions are kept. Print when each part came."""
    browser = _Browser(address, port, http, connections, early_data, by_name, wait_s)
    begin_ns = start_at(gate, later_ns)
    sleep_until, loaded = sleeper(), []
    for _ in range(visits):
        sleep_until(begin_ns)
        loaded.append(browser.visit(objects))
        begin_ns = time.monotonic_ns() + _PAUSE_NS
    print(json.dumps({"visits": loaded}))


class _Browser:
    def __init__(
        self, address: str, port: int, http: str, connections: int, early_data: bool, by_name: bool, wait_s: int
    ) -> None:
        self._curl = curl = ctypes.CDLL("libcurl.so.4")
        for maker in (curl.curl_easy_init, curl.curl_multi_init, curl.curl_share_init, curl.curl_slist_append):
            maker.restype = c_void_p
        curl.curl_easy_strerror.restype = c_char_p
        curl.curl_multi_info_read.restype = POINTER(_Message)
        curl.curl_global_init(c_long(_EVERYTHING))
        self._sessions = c_void_p(curl.curl_share_init())
        curl.curl_share_setopt(self._sessions, c_int(_SHARED), c_int(_TLS_SESSIONS))
        known = f"{SERVER_NAME}:{port}:{address}".encode()
        self._resolved = None if by_name else c_void_p(curl.curl_slist_append(None, c_char_p(known)))
        self._port, self._http, self._connections = port, http, connections
        self._early_data, self._wait_s = early_data, wait_s
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write(CERTIFICATE)
        self._certificate = file.name

    def visit(self, objects: int) -> dict[str, Any]:
        """Load the base file, then the objects: all at once, or over HTTP/1.0 one after another."""
        curl = self._curl
        self._multi = c_void_p(curl.curl_multi_init())
        curl.curl_multi_setopt(self._multi, c_int(_MOST_CONNECTIONS), c_long(self._connections))
        self._began_ns = time.monotonic_ns()
        self._asked: dict[int, tuple[str, float]] = {}
        waiting = [str(number) for number in range(1, objects + 1)]
        at_once = 1 if self._http == "1.0" else objects
        times: dict[str, Any] = {}
        loaded = []
        self._ask(_BASE)
        while self._asked:
            running = c_int()
            curl.curl_multi_perform(self._multi, ctypes.byref(running))
            while message := curl.curl_multi_info_read(self._multi, ctypes.byref(running)):
                handle, result = message.contents.handle, message.contents.result
                name, asked_ms = self._asked.pop(handle)
                if result:
                    raise SystemExit(f"{name}: {curl.curl_easy_strerror(c_int(result)).decode()}")
                if name == _BASE:
                    times = self._times(handle)
                else:
                    loaded.append({"number": int(name), "asked_ms": asked_ms, "loaded_ms": self._now_ms()})
                curl.curl_multi_remove_handle(self._multi, c_void_p(handle))
                curl.curl_easy_cleanup(c_void_p(handle))
                self._ask(*waiting[:at_once])
                del waiting[:at_once]
            if self._asked:
                curl.curl_multi_poll(self._multi, None, 0, c_int(1000 * self._wait_s), None)
        curl.curl_multi_cleanup(self._multi)
        return {**times, "objects": loaded}

    def _now_ms(self) -> float:
        return (time.monotonic_ns() - self._began_ns) / 1e6

    def _ask(self, *names: str) -> None:
        for name in names:
            handle = self._curl.curl_easy_init()
            self._set(handle, _URL, f"https://{SERVER_NAME}:{self._port}/{name}".encode())
            self._set(handle, _CA_FILE, self._certificate.encode())
            self._set(handle, _VERSION, _VERSIONS[self._http])
            self._set(handle, _IP_VERSION, _IPV4)
            self._set(handle, _WRITE, _forget)
            self._set(handle, _SHARE, self._sessions)
            self._set(handle, _WAIT_FOR_PIPE, 1)
            self._set(handle, _TIMEOUT_S, self._wait_s)
            if self._resolved is not None:
                self._set(handle, _RESOLVE, self._resolved)
            if self._http == "1.0":
                self._set(handle, _FORBID_REUSE, 1)
            if self._early_data:
                self._set(handle, _TLS_OPTIONS, _EARLY_DATA)
            self._asked[handle] = (name, self._now_ms())
            self._curl.curl_multi_add_handle(self._multi, c_void_p(handle))

    def _set(self, handle: int, option: int, value: Any) -> None:
        value = c_long(value) if isinstance(value, int) else c_char_p(value) if isinstance(value, bytes) else value
        result = self._curl.curl_easy_setopt(c_void_p(handle), c_int(option), value)
        if result:
            raise SystemExit(f"libcurl knows no option {option}: {self._curl.curl_easy_strerror(c_int(result))!r}")

    def _times(self, handle: int) -> dict[str, float]:
        """Return when the name was known, the connection open, TLS done, the base file's first and last byte there."""

        def ms(which: int) -> float:
            found = c_int64()
            self._curl.curl_easy_getinfo(c_void_p(handle), c_int(which), ctypes.byref(found))
            return found.value / 1000

        return {
            "name_ms": ms(_NAME_US),
            "connected_ms": ms(_CONNECT_US),
            "secure_ms": ms(_TLS_US),
            "first_byte_ms": ms(_FIRST_US),
            "base_ms": self._now_ms(),
        }


# --- The web server's certificate and its key, made once: lengths of packets would change with others
#
# It holds from 2000 to 2200, since labs have a date of their own, and signs itself. The key is RSA's, whose signatures
# have one length; those of elliptic curves vary by a byte or two. Nobody else trusts it, so the key is no secret.

SERVER_NAME = "www.shop.example"
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIC4TCCAcmgAwIBAgIBEDANBgkqhkiG9w0BAQsFADAaMRgwFgYDVQQDDA9MaW5r
bGFiLCBMYWIgMTYwIBcNMDAwMTAxMDAwMDAwWhgPMjIwMDAxMDEwMDAwMDBaMBox
GDAWBgNVBAMMD0xpbmtsYWIsIExhYiAxNjCCASIwDQYJKoZIhvcNAQEBBQADggEP
ADCCAQoCggEBAIudYf+ayumy9gyRf9RUF72VrEOVNDKceXRBAIWqHRFhOBFIQvXS
9Tfhx6a50aw6AZpG9Lyb2wKLNLeH6rpESoYkhtsdO2O+qi/oTJEnqAqGvCcJsRzD
+B7TxpaIShnI43C4FFkbc/8MIC6mCxoxtdV7rLUThFj9w6H5f1CmlwUHFeq+3vzI
gBHsnAkqOSjZAs66cmarb3R99ggdOe81bYrVhhyG293MiDa11OGKqTlvDm2vxwha
pXMdlJH9w7DlpP4lDzEY8Zm4Qug8nVpdCY44BZ/KdQia+QsOfUrnCZgxhWTr6hDQ
Xsfn6Ef2r2TMweHPRPt4FEt1MAAolhPE7tkCAwEAAaMwMC4wGwYDVR0RBBQwEoIQ
d3d3LnNob3AuZXhhbXBsZTAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUA
A4IBAQACJo2VIyObNXZnpPfJO8IkhH57yowcLX/psCx9yOxBhbRphVmIRrrTw62y
AC3V/Jq/cbacFnnSl9eetbPul6EMzAvEIIbuT+LpRL4ZFcQ2V6lBTHWRTyXhjPoD
+Gy5wgA4JalD0O4vdFlQ+DDAF/Dw/6b0ORiAABJvBQIVTIQaz3bB86VCmemooA2a
NUJOM1zgZQ8wSvkLZMJuQpXsRQ1nRyOuammOCjzSe3pDaLGCED2hRyUjs+b3pIYr
09bi70++0Jle1FHeN+cPf4UdpGSke5RLQC1MZxf1aGyEij0gORhVbVWqzSbV32u8
xW8zMJCnL6a7uPvxC2tYYogAjlrR
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCLnWH/msrpsvYM
kX/UVBe9laxDlTQynHl0QQCFqh0RYTgRSEL10vU34cemudGsOgGaRvS8m9sCizS3
h+q6REqGJIbbHTtjvqov6EyRJ6gKhrwnCbEcw/ge08aWiEoZyONwuBRZG3P/DCAu
pgsaMbXVe6y1E4RY/cOh+X9QppcFBxXqvt78yIAR7JwJKjko2QLOunJmq290ffYI
HTnvNW2K1YYchtvdzIg2tdThiqk5bw5tr8cIWqVzHZSR/cOw5aT+JQ8xGPGZuELo
PJ1aXQmOOAWfynUImvkLDn1K5wmYMYVk6+oQ0F7H5+hH9q9kzMHhz0T7eBRLdTAA
KJYTxO7ZAgMBAAECggEAAr+nN4NKZeX0UqSFrf421nBtKwpzs+BhQsDp2/fQqTAv
DKYNzW2pDr/W8KkdX+TndaxacqEl42uursNSA3dHOVNcRVGSwwC0tItAAKaVeBmV
eDZIYp7YEnFMalfGD7JlCenR2rw/4SBRvOFffBVI9WpBKPJ4q1DZqmVxVHrnI73r
xpbamwFAPZwennKCUvdgnoJm1NsyIB+Zv8AhcSprsCZDiX3dsHGXbcZEAdzw/xRj
X+9ETDEjDsB71Mh1iyWYGROQtiusY5Qf2cWuSAlrwpJpADOtzIvF9h8z7xBUMKnI
oBEHs5yqZKZV996KMc2QUXrXGNN7pxY5lyCbiaXjYQKBgQC+ANH+2ga6nTN6JQ36
Q0WGFFv3s/vuLbPUNPxeRAQCd7VV9OKJNopp6pJHWxe2n7Cjf1NrVoKTw4LUzeIs
Bncyj4KXtT1Yywzspt2Aq3yalzFVpffv2dHicw6rZBQuzO3iKGn7izctNrfEnzGS
saTfbyCaHwE2r6vTWzlr6N+CaQKBgQC8G/+WNL3ag+E3NPyxrrmdY5wRY8MaChSc
eOy8qGSWdpbAWVz1Sf+5usOdX19Igifh3ThAORL/Ti0o+GGRGN6ZlaO/tVIWDc+c
UKSYTLjkB2kvIpwbFl3YdlYEvcABPNwb5mp3TFViteX1r7Z3dFtl1k2HqOlA/6lI
iOtDUKia8QKBgAWKUpVC2EVixhh+shylD4bsWw4rAmKclIzQirdY9mD4CqKaBG0J
2RljjKZmApgBqg3qbY1ItYAHiG4aHsk32wvvYVh5IXPQX+0apITW+0gqtnaP413s
FRGsVzYqMeh3c0xP7181XQOFf/BM0A49/dfCDspPsyJcFv+PvmnmHXZZAoGAK9OG
H9PX6+JQBZHF0gv4WPANO4v3t8hjdvVBis7c6KVmiBgJ7Wg5OWeHDdJbm8QfUKM+
6M+jWnI3WVVNPgYCTtwrU44GOvcqyKuNPaKabR5A5md04Wa7pKQldGNVKbSpP6LW
aUcSmbXxhuVSaNBmPvrIA3RaK/ek1C56SauwLLECgYBWq78+BBq4ARcScQW8nOlf
puyUaAYi5AvdhI1KgGvKhVn1mcP9C51Rw0sO8hIBJMSL6BzcFgucKJK5+0LaUwbY
S279uUsH+UtiQAxKKXnvjc6NbFlVJ0OOkJcHymnsjwBqFs46G+vy2ycUfrMJv7kN
qNzT7Y2PgSFaET4KIX7JxA==
-----END PRIVATE KEY-----
"""


if __name__ == "__main__":
    act(serve, load)
