"""The environment variables that matter."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from observed import recorded

from tfdoctor.probes import environment
from tfdoctor.probes.environment import Environment, reduced

pytestmark = [
    pytest.mark.usefixtures("bare"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files"),
]


def test_environment_is_an_allow_list():
    given = {
        "CUDA_VISIBLE_DEVICES": "0",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        "TF_VAR_db_password": "x",
        "TF_TOKEN_app": "x",
        "NVIDIA_API_KEY": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "HOME": "/home/alice",
        "NCCL_SOCKET_IFNAME": "eth0",
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "XLA_FLAGS": "",
    }
    assert reduced(given) == {
        "CUDA_VISIBLE_DEVICES": "0",
        "KUBERNETES_SERVICE_HOST": "set",
        "NCCL_SOCKET_IFNAME": "eth0",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        "XLA_FLAGS": "",
    }


def test_hosts_in_tf_config_are_numbered():
    config = {
        "cluster": {"worker": ["box-a.lab:2222", "box-b.lab:2222"], "ps": ["box-a.lab:3333"], "chief": ["localhost:1"]},
        "task": {"type": "worker", "index": 0},
    }
    shown = json.loads(reduced({"TF_CONFIG": json.dumps(config)})["TF_CONFIG"])
    assert shown["cluster"] == {"worker": ["host1:2222", "host2:2222"], "ps": ["host1:3333"], "chief": ["localhost:1"]}
    assert shown["task"] == config["task"]
    assert reduced({"TF_CONFIG": "{broken"}) == {"TF_CONFIG": "not JSON"}


def test_set_but_empty(tmp_path):
    found = recorded(tmp_path, {"env.txt": "CUDA_VISIBLE_DEVICES=\n"}).get(Environment)
    assert "CUDA_VISIBLE_DEVICES" in found.variables
    assert found.get("XLA_FLAGS") == ""


def test_the_documented_allow_list_is_the_real_one():
    documented = (Path(__file__).parents[2] / "docs/recordings.md").read_text()
    named = set(re.findall(r"`([A-Za-z_0-9]+)`", documented.partition("## Environment variables")[2]))
    assert named - {"container"} == (environment.NAMES | set(environment.PREFIXES)) - {"container"}
