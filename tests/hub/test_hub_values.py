"""The values for Kubernetes say what docs/jupyterhub.md promises, and fit the container: no privilege anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from linklab.runtime.backends import GUEST_MEMORY_MB
from tests.install import recipe

pytest.importorskip("jupyterhub", reason="needs JupyterHub: make test installs it")
from linklab.hub.student import IDLE_S

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "jupyterhub.md").read_text("utf-8")


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


def test_the_document_tells_the_same_limits(values: dict[str, Any]) -> None:
    server = values["singleuser"]
    for what in ("guarantee", "limit"):
        assert f"{server['memory'][what].removesuffix('G')} GB" in DOCUMENT
        assert f"{server['cpu'][what]} CPU" in DOCUMENT
    assert f"{GUEST_MEMORY_MB} MB" in DOCUMENT
    assert values["cull"]["timeout"] == IDLE_S == 3600
    assert "an hour" in DOCUMENT


def test_the_pod_runs_what_the_image_would(values: dict[str, Any]) -> None:
    server = recipe.read(ROOT / "Dockerfile")["server"]
    assert json.loads(server.last("CMD")) == values["singleuser"]["cmd"]
    assert server.last("USER") == f"{values['singleuser']['uid']}:{values['singleuser']['fsGid']}"
    assert server.last("WORKDIR") == values["singleuser"]["storage"]["homeMountPath"]
    assert f"podman build --target {server.name} " in DOCUMENT
