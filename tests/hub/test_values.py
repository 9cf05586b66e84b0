"""The values for Kubernetes say what docs/jupyterhub.md promises, and fit the container: no privilege anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from linklab.runtime.backends import GUEST_MEMORY_MB

pytest.importorskip("jupyterhub", reason="needs JupyterHub: make test installs it")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "hub" / "values.yaml").read_text("utf-8"))
    return read


def test_a_students_pod_has_no_privilege(values: dict[str, Any]) -> None:
    server, context = values["singleuser"], values["hub"]["config"]["KubeSpawner"]["container_security_context"]
    assert server["uid"] == server["fsGid"] == context["runAsGroup"] == 1000
    assert server["allowPrivilegeEscalation"] is False
    assert context["runAsNonRoot"] is True
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    # the chart's default puts a container with NET_ADMIN before each server
    assert server["cloudMetadata"]["blockWithIptables"] is False
    assert "initContainers" not in server


def test_a_students_pod_reaches_the_hub_and_names_alone(values: dict[str, Any]) -> None:
    policy = values["singleuser"]["networkPolicy"]
    assert policy["enabled"] is True
    allowed = {name for name, wish in policy["egressAllowRules"].items() if wish}
    assert allowed == {"dnsPortsKubeSystemNamespace", "dnsPortsPrivateIPs"}
    assert "egress" not in policy
    # a rule that is not named here has the chart's default, which may allow it
    assert {"cloudMetadataServer", "nonPrivateIPs", "privateIPs"} <= set(policy["egressAllowRules"]) - allowed


def test_a_labs_memory_fits_where_it_lies(values: dict[str, Any]) -> None:
    server = values["singleuser"]
    (volume,) = server["storage"]["extraVolumes"]
    (mount,) = server["storage"]["extraVolumeMounts"]
    assert mount == {"name": volume["name"], "mountPath": "/dev/shm"}
    assert volume["emptyDir"]["medium"] == "Memory"
    room_mb = int(volume["emptyDir"]["sizeLimit"].removesuffix("Mi"))
    limit_mb = 1024 * int(server["memory"]["limit"].removesuffix("G"))
    assert GUEST_MEMORY_MB * 2 < room_mb < limit_mb
