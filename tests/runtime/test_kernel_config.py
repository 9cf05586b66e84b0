"""The kernel's configuration: what it asks for, its hash, and what a build lacks."""

from __future__ import annotations

from linklab.runtime.kernel.config import (
    configuration_hash,
    configuration_text,
    missing_options,
    options,
    required_options,
)

SAMPLE = """# a comment
CONFIG_HOSTFS=y

# -- Links
CONFIG_VETH=y
# CONFIG_FRAME_POINTER is not set
# -- Optional: older kernels only
CONFIG_PROC_SYSCTL=y
"""


def test_options_are_the_lines_that_set_something() -> None:
    assert options(SAMPLE) == {"CONFIG_HOSTFS": "y", "CONFIG_VETH": "y", "CONFIG_PROC_SYSCTL": "y"}


def test_what_stands_under_optional_is_not_required() -> None:
    assert list(required_options(SAMPLE)) == ["CONFIG_HOSTFS", "CONFIG_VETH"]


def test_missing_options_are_named_in_order() -> None:
    assert missing_options(SAMPLE, "CONFIG_VETH=y\nCONFIG_HOSTFS=y\n") == []
    assert missing_options(SAMPLE, "# CONFIG_VETH is not set\n") == ["CONFIG_HOSTFS", "CONFIG_VETH"]


def test_a_module_does_not_count_as_built_in() -> None:
    assert missing_options(SAMPLE, "CONFIG_HOSTFS=y\nCONFIG_VETH=m\n") == ["CONFIG_VETH"]


def test_hash_ignores_comments_and_order_and_sees_each_option() -> None:
    reworded = "CONFIG_PROC_SYSCTL=y\n# other words\nCONFIG_VETH=y\nCONFIG_HOSTFS=y\n"
    assert configuration_hash(reworded) == configuration_hash(SAMPLE)
    assert configuration_hash(SAMPLE + "CONFIG_TUN=y\n") != configuration_hash(SAMPLE)


def test_the_configuration_has_what_the_labs_are_about() -> None:
    required = required_options(configuration_text())
    links = ["VETH", "BRIDGE", "VLAN_8021Q", "OPENVSWITCH", "NET_SCH_NETEM", "NET_SCH_HTB", "TCP_CONG_CUBIC"]
    for name in ["UML_TIME_TRAVEL_SUPPORT", "HOSTFS", "OVERLAY_FS", "TMPFS", "NET_NS", "PID_NS", *links]:
        assert required.get(f"CONFIG_{name}") == "y", name
