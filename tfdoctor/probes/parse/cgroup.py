"""/proc/*/cgroup and /proc/self/mountinfo: what runs the container that we are in."""

from __future__ import annotations

import re

_KINDS = (
    ("kubernetes", re.compile(r"kubepods|/kubelet/pods/")),
    ("podman", re.compile(r"libpod[-_/]|/containers/storage/overlay")),
    ("docker", re.compile(r"/docker[-/]|/docker/(?:containers|overlay2|rootfs)/|docker-[0-9a-f]{12}")),
    ("lxc", re.compile(r"/lxc(?:\.payload|\.monitor)?[./]|lxcfs")),
    ("containerd", re.compile(r"/containerd/|io\.containerd")),
)


def kind(text: str) -> str:
    """ "docker", "podman", "lxc", "kubernetes", "containerd" or "" when nothing names one.

    Of a mountinfo only the lines of / and of files that an engine puts into its containers count: a machine that
    merely runs containers has their mounts in its table too."""
    return next((name for name, pattern in _KINDS if pattern.search(text)), "")


def inside_mounts(mountinfo: str) -> str:
    """The lines of /proc/self/mountinfo whose mount point only a container has: /, /etc/hosts, /etc/resolv.conf…"""
    points = {
        "/",
        "/etc/hosts",
        "/etc/hostname",
        "/etc/resolv.conf",
        "/dev/termination-log",
        "/run/secrets/kubernetes.io/serviceaccount",
        "/proc/cpuinfo",
    }
    rows = (line for line in mountinfo.splitlines() if len(line.split()) > 4 and line.split()[4] in points)
    return "\n".join(rows)
