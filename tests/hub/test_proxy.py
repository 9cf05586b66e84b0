"""The hub's door: without TLS it opens on loopback alone."""

from __future__ import annotations

import pytest

from linklab.errors import LinklabError

pytest.importorskip("jupyterhub", reason="needs JupyterHub: make test installs it")
from linklab.hub.proxy import refuse_open_door


@pytest.mark.parametrize("host", ["127.8.8.8", "localhost:8000", "[::1]:8000"])
def test_loopback_needs_no_certificate(host: str) -> None:
    refuse_open_door(f"http://{host}/", "")


@pytest.mark.parametrize(
    ("host", "named"),
    [
        ("0.0.0.0:8000", "0.0.0.0"),
        ("[::]:8000", "::"),
        ("localhost.example.org", "localhost.example.org"),
        (":8000", "every address of this machine"),
    ],
)
def test_other_addresses_need_one(host: str, named: str) -> None:
    with pytest.raises(LinklabError, match=f"passwords at {named} without TLS: give it a certificate") as refused:
        refuse_open_door(f"http://{host}/", "")
    assert "\n" not in str(refused.value)
    refuse_open_door(f"https://{host}/", "/etc/ssl/certs/lab.pem")
