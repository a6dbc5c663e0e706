"""Parsers of the kernel's files and programs: the forms that they must read, and that nothing makes them raise."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.probes.parse import (
    cgroup,
    command_line,
    cpuinfo,
    dmesg,
    dpkg_status,
    group,
    kfd,
    linux_version,
    lspci,
    meminfo,
    modinfo,
    os_release,
    pcie,
    proc_driver,
    proc_limits,
)

ANYTHING = st.text(max_size=400)
# Pieces that the formats are made of, so that random texts get past the first word.
PIECES = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  ", "Open Kernel Module for aarch64  ", "535.54.03", "470.1", "²", "٣", "\n", "\n\n", "\0", " ", "\t",
    "NVRM: Xid (PCI:0000:3b:00): ", "79, pid=12, name=x, ", "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, ", "[12.5] ", "Mar  1 10:00:00 h kernel: ",
    "3b:00.0 3D controller [0302]: NVIDIA Corporation X [10de:2330] (rev ff)\n", "\tLnkCap: Port #0, Speed 16GT/s, Width x16\n", "\tLnkSta: Speed 2.5GT/s (downgraded), Width x99\n",
    "\tRegion 0: Memory at <unassigned> [size=16M]\n", "\tBus: primary=00, secondary=3b, subordinate=3b\n", "\tACSCtl: SrcValid+ ReqRedir+\n",
    "Package: nvidia-driver-535\n", "Status: install ok half-configured\n", "Version: 1\n", "processor : 0\n", "flags : lm avx\n", "MemTotal: 12 kB\n",
    "Max locked memory  unlimited unlimited bytes\n", "gfx_target_version 90402\n", "video:x:44:a\n", 'ID="a\n', "version: 1\n", "card0", '{"card0": {"GFX Version": 5}}',
)  # fmt: skip
MADE = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=25).map("".join)
PARSERS = (
    cgroup.kind, cgroup.inside_mounts, command_line.relevant, cpuinfo.parse, cpuinfo.relevant, dmesg.parse, dmesg.relevant, dmesg.message,
    dpkg_status.parse, dpkg_status.relevant, group.names, kfd.gfx, kfd.smi, linux_version.release, linux_version.wsl, lspci.parse, lspci.relevant,
    lspci.full_address, meminfo.parse, modinfo.parse, os_release.parse, pcie.generation, pcie.width, pcie.bars, proc_driver.version, proc_driver.machine, proc_driver.params,
    proc_driver.modules, proc_limits.locked_memory,
)  # fmt: skip


@pytest.mark.parametrize("parse", PARSERS, ids=lambda p: f"{p.__module__.rpartition('.')[2]}.{p.__name__}")
@given(text=ANYTHING | MADE)
def test_no_text_makes_a_parser_raise(parse, text):
    parse(text)


@given(data=st.binary(max_size=600) | st.binary(max_size=60).map(lambda b: b"\0" * 256 + b * 8))
def test_no_bytes_make_a_parser_raise(data):
    pcie.dead(data)
    pcie.acs_redirects(data)
    modinfo.signed(data)
    modinfo.section(data)
    modinfo.section(b"\x7fELF\x02\x01\x01" + data)
    assert pcie.acs_redirects(pcie.reduced(data)) == pcie.acs_redirects(data)


@given(text=MADE)
def test_what_a_recording_keeps_reads_like_the_whole(text):
    assert dpkg_status.parse(dpkg_status.relevant(text)) == dpkg_status.parse(text)
    assert dmesg.parse(dmesg.relevant(text)) == dmesg.parse(text)
    assert command_line.relevant(" ".join(command_line.relevant(text))) == command_line.relevant(text)


@pytest.mark.parametrize(
    ("text", "version", "flavour"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed Oct 27 21:21:55 UTC 2021\nGCC version:  gcc version 9.3.0\n", "470.82.01", "proprietary"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  396.44  Wed Jul 11 16:51:49 PDT 2018\n", "396.44", "proprietary"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.07  Release Build  (a@b)  Fr 14. März 12:00:00 UTC 2025\n", "570.133.07", "open"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build  (a@b)\n", "580.65.06", "open"),
        ("NVRM version: NVIDIA UNIX aarch64 Kernel Module  35.4.1  Tue Aug  1 12:57:35 PDT 2023", "35.4.1", "proprietary"),
        ("NVRM version: NVIDIA UNIX ppc64le Kernel Module  418.87.00  星期四 8月 8 15:35:46 CDT 2019", "418.87.00", "proprietary"),
        ("GCC version:  gcc version 12.2.0 (GCC)\n", "", ""),
        ("", "", ""),
    ],
)  # fmt: skip
def test_driver_version(text, version, flavour):
    assert proc_driver.version(text) == (version, flavour)


def test_driver_architecture():
    assert proc_driver.machine("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed") == "x86_64"
    assert (
        proc_driver.machine("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build")
        == "aarch64"
    )
    assert proc_driver.machine("NVRM version: NVIDIA UNIX Open Kernel Module  580.65.06") == ""
    assert proc_driver.machine("GCC version: gcc for x86_64 Kernel Module") == ""


def test_modules_and_params():
    listed = proc_driver.modules("nvidia_uvm 6742016 2 - Live 0x0000000000000000 (OE)\nnvidia 12345 1 nvidia_uvm,\n")
    assert listed == {"nvidia_uvm", "nvidia"}
    assert proc_driver.params('EnableMSI: 1\nRegistryDwords: "a"\n') == {"EnableMSI": "1", "RegistryDwords": '"a"'}


XID = "NVRM: Xid (PCI:0000:3b:00): 31, pid=4242, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS"


@pytest.mark.parametrize(
    "prefix",
    [
        "", "[  123.456789] ", "[Sun Feb 23 16:24:18 2025] ", "<3>[ 1.5] ", "kern  :err   : [ 12.5] ", "Mar  2 10:00:00 somehost kernel: ",
        "Mar 12 10:00:00 somehost kernel: [ 99.1] ", "2025-03-02T10:00:00.123456+01:00 somehost kernel: ",
    ],
)  # fmt: skip
def test_xid_after_every_prefix(prefix):
    (xid,) = dmesg.parse(prefix + XID).xids
    assert (xid.code, xid.bus, xid.pid, xid.process) == (31, "0000:3b:00", 4242, "python3")
    assert xid.text.startswith("Ch 00000008")
    assert dmesg.message(prefix + XID) == XID


@pytest.mark.parametrize(
    ("line", "code", "bus", "pid", "process"),
    [
        ("NVRM: Xid (0000:01:00): 13, 0001 00000000 0000a1c0", 13, "0000:01:00", None, ""),
        (
            "NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            79,
            "0000:91:00",
            None,
            "",
        ),
        (
            "NVRM: Xid (PCI:0000:0A:00 GPU-I:05): 94, pid=7, name=train, Contained: CE User Channel",
            94,
            "0000:0a:00",
            7,
            "train",
        ),
        ("NVRM: Xid (PCI:0000:65:00): 63, Row Remapper: New row marked for remapping", 63, "0000:65:00", None, ""),
    ],
)
def test_xid_forms(line, code, bus, pid, process):
    (xid,) = dmesg.parse(line).xids
    assert (xid.code, xid.bus, xid.pid, xid.process) == (code, bus, pid, process)


def test_sxid_continuations_are_no_events():
    log = dmesg.parse(
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)\n"
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Severity 0 Engine instance 32 Sub-engine instance 00\n"
        "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 7 LTSSM Fault Up\n"
    )
    assert [(s.code, s.switch, s.fatal) for s in log.sxids] == [
        (12028, "nvidia-nvswitch3", False),
        (20034, "nvidia-nvswitch0", True),
    ]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Loading of unsigned module is rejected", "key-rejected"),
        ("Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7", "lockdown"),
        ("NVRM: API mismatch: the client has the version 535.54.03, but", "api-mismatch"),
        ("nouveau 0000:01:00.0: NVIDIA GA102 (172000a1)", "nouveau"),
        ("PM: suspend exit", "resume"),
        ("NVRM: BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)", "bar"),
        ("pci 0000:01:00.0: BAR 1: no space for [mem size 0x400000000 64bit pref]", "bar"),
        ("NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.", "fallen-off-bus"),
        (
            "pci 0000:04:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:00:1c.0",
            "pcie-limited",
        ),
        ("pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0", "aer"),
        ("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)", "rm-init-failed"),
        ("NVRM: installed in this system is not supported by open", "gpu-not-supported"),
        ("NVRM: installed in this system requires use of the NVIDIA open kernel modules.", "gpu-not-supported"),
        ("NVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please", "gpu-not-supported"),
        ("Out of memory: Killed process 4242 (python3) total-vm:1kB", "oom"),
    ],
)
def test_lines_that_name_a_cause(line, kind):
    assert dmesg.kinds(line) == (kind,)


@pytest.mark.parametrize(
    "line",
    [
        "nvidia: loading out-of-tree module taints kernel.",
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.54.03",
        "nvidia-uvm: Loaded the UVM driver, major device number 510.",
        "PM: suspend entry (deep)",
        "usb 1-1: new high-speed USB device",
    ],
)
def test_harmless_lines_name_none(line):
    log = dmesg.parse(line)
    assert (log.xids, log.sxids, log.lines) == ((), (), ())


def test_repeated_lines_are_cut():
    log = dmesg.parse("pcieport 0000:00:01.0: AER: Corrected error received\n" * 5000)
    assert len(log.lines) == dmesg.MOST


LISTING = """\
00:01.0 PCI bridge [0604]: Some Root Port [8086:a70d] (rev 01) (prog-if 00 [Normal decode])
\tControl: I/O+ Mem+ BusMaster+
\tBus: primary=00, secondary=01, subordinate=02, sec-latency=0
\tCapabilities: [a0] Express (v2) Root Port (Slot+), MSI 00
\t\tLnkCap:\tPort #2, Speed 32GT/s, Width x16, ASPM L1, Exit Latency L1 <16us
\t\tLnkSta:\tSpeed 8GT/s, Width x4
\tCapabilities: [100 v1] Access Control Services
\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-

01:00.0 PCI bridge [0604]: Some Switch [11f8:4036] (prog-if 00 [Normal decode])
\tControl: I/O- Mem+ BusMaster+
\tBus: primary=01, secondary=02, subordinate=02, sec-latency=0
\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x8, ASPM L1
\t\tLnkSta:\tSpeed 8GT/s (ok), Width x4 (downgraded)

02:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [GeForce RTX 3090] [10de:2204] (rev a1) (prog-if 00 [VGA controller])
\tControl: I/O+ Mem+ BusMaster+
\tNUMA node: 1
\tRegion 0: Memory at 82000000 (32-bit, non-prefetchable) [size=16M]
\tRegion 1: Memory at <unassigned> (64-bit, prefetchable) [disabled] [size=256M]
\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L0s L1
\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x4 (downgraded)
\tKernel driver in use: nvidia

03:00.0 3D controller [0302]: NVIDIA Corporation TU117M [10de:1f91] (rev ff) (prog-if ff)
\t!!! Unknown header type 7f

04:00.0 Ethernet controller [0200]: Somebody [8086:15f3]
\tCapabilities: [140 v1] Device Serial Number a4-bf-01-ff-ff-22-33-44
"""


def test_lspci_listing():
    root, switch, card, gone, _network = lspci.parse(LISTING)
    assert (card.address, card.vendor, card.device, card.device_class) == ("0000:02:00.0", "10de", "2204", "0300")
    assert card.link == (1, 4, 4, 16)
    assert card.bars == (16 * 2**20, 0)
    assert (card.driver, card.numa_node, card.name) == ("nvidia", 1, "GA102 [GeForce RTX 3090]")
    assert (root.secondary, switch.secondary, root.acs_redirect, switch.acs_redirect) == ("01", "02", True, None)
    assert gone.dead and not card.dead


def test_short_listing_tells_no_driver():
    (device,) = lspci.parse("01:00.0 VGA compatible controller: NVIDIA Corporation Device 2684 (rev a1)\n")
    assert (device.vendor, device.device, device.device_class, device.driver) == ("10de", "2684", "0300", None)


def test_kept_listing_has_the_devices_and_no_serial_numbers():
    kept = lspci.relevant(LISTING)
    assert [d.address for d in lspci.parse(kept)] == [d.address for d in lspci.parse(LISTING)][:4]
    assert "a4-bf" not in kept


@pytest.mark.parametrize(
    ("address", "full"),
    [
        ("3B:00.0", "0000:3b:00.0"),
        ("00000000:3B:00.0", "0000:3b:00.0"),
        ("0004:05:00.0", "0004:05:00.0"),
        ("10de0:01:00.0", "10de0:01:00.0"),
        ("x", "x"),
    ],
)
def test_addresses(address, full):
    assert lspci.full_address(address) == full


@pytest.mark.parametrize(
    ("speed", "generation"),
    [
        ("2.5 GT/s PCIe", 1),
        ("5.0 GT/s PCIe", 2),
        ("8GT/s", 3),
        ("16.0 GT/s PCIe", 4),
        ("32GT/s", 5),
        ("64.0 GT/s", 6),
        ("Unknown", None),
        ("3.0 GT/s", None),
        ("", None),
    ],
)
def test_generations(speed, generation):
    assert pcie.generation(speed) == generation


def test_widths_that_no_link_has():
    assert [pcie.width(w) for w in ("16", "x8", "0", "63", "255", "")] == [16, 8, None, None, None, None]


def test_sysfs_resources():
    lines = (
        "0x00000000a0000000 0x00000000a0ffffff 0x0000000000040200\n"  # BAR 0: 16 MiB
        "0x0000000000000000 0x00000003ffffffff 0x000000002014220c\n"  # BAR 1: no address
        "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
        "0x0000000000003000 0x000000000000307f 0x0000000000040101\n"  # I/O ports
    )
    assert pcie.bars(lines) == (16 * 2**20, 0)


def config(control: int) -> bytes:
    """A configuration space with an ACS capability behind a serial number."""
    space = bytearray(4096)
    space[:4] = bytes.fromhex("86800da7")
    space[0x100:0x104] = (0x0003 | 1 << 16 | 0x140 << 20).to_bytes(4, "little")
    space[0x104:0x10C] = b"SERIALNO"
    space[0x140:0x144] = (0x000D | 1 << 16).to_bytes(4, "little")
    space[0x146:0x148] = control.to_bytes(2, "little")
    return bytes(space)


def test_access_control():
    assert pcie.acs_redirects(config(0x1D)) is True
    assert pcie.acs_redirects(config(0x00)) is False
    assert pcie.acs_redirects(config(0x1D)[:64]) is None
    assert pcie.acs_redirects(pcie.reduced(config(0x1D))) is True
    assert b"SERIALNO" not in pcie.reduced(config(0x1D))
    assert pcie.dead(b"\xff" * 64) and not pcie.dead(config(0)) and not pcie.dead(b"")


X86 = "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu lm avx AVX2\n\nprocessor\t: 1\nmodel name\t: Some CPU\nflags\t\t: fpu\n\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\n\nprocessor\t: 1\nFeatures\t: fp\n\nSerial\t\t: 1422219012345\n"
POWER = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.0MHz\n\nprocessor\t: 4\ncpu\t\t: POWER9, altivec supported\n"


@pytest.mark.parametrize(
    ("text", "machine", "flag"), [(X86, "x86_64", "avx2"), (ARM, "aarch64", "asimd"), (POWER, "ppc64le", "")]
)
def test_processors(text, machine, flag):
    parsed = cpuinfo.parse(text)
    assert (parsed.machine, parsed.cores) == (machine, 2)
    assert not flag or flag in parsed.flags
    kept = cpuinfo.relevant(text)
    assert cpuinfo.parse(kept) == parsed
    assert "1422219012345" not in kept


def test_small_files():
    assert os_release.parse('ID=ubuntu\nVERSION_ID="22.04"\n# x\nBROKEN="a\n')["VERSION_ID"] == "22.04"
    assert meminfo.parse("MemTotal:       16384 kB\nHugePages_Total:   3\n") == {
        "MemTotal": 16384 * 1024,
        "HugePages_Total": 3,
    }
    assert proc_limits.locked_memory("Max locked memory         65536                65536                bytes\n") == (
        65536,
    )
    assert proc_limits.locked_memory("Max locked memory         unlimited            unlimited            bytes\n") == (
        None,
    )
    assert proc_limits.locked_memory("Max open files 1 2 files\n") is None
    assert group.names("video:x:44:alice,bob\nbroken\nx:x:y:\n") == {44: "video"}
    assert group.relevant("video:x:44:alice\nalice:x:1000:\n", {44}) == "video:x:44:\n"
    assert (
        modinfo.parse("filename:       /lib/x.ko\nversion:        535.54.03\nsigner:         Key: A\nparm: a: b\n")[
            "signer"
        ]
        == "Key: A"
    )


@pytest.mark.parametrize(
    ("kernel", "wsl"),
    [
        ("4.4.0-19041-Microsoft", 1),
        ("5.15.153.1-microsoft-standard-WSL2", 2),
        ("4.19.104-microsoft-standard", 2),
        ("5.15.0-1050-azure", 0),
        ("6.1.0-18-amd64", 0),
    ],
)
def test_kernels_of_wsl(kernel, wsl):
    assert linux_version.wsl(kernel) == wsl
    assert linux_version.release(f"Linux version {kernel} (a@b) (gcc 12)") == kernel


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("12:pids:/docker/0123456789ab\n", "docker"),
        ("0::/system.slice/docker-0123456789ab.scope\n", "docker"),
        ("0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-1.scope\n", "kubernetes"),
        ("0::/user.slice/user-1000.slice/libpod-1.scope\n", "podman"),
        ("1:name=systemd:/lxc/box\n", "lxc"),
        ("0::/user.slice/user-1000.slice/session-2.scope\n", ""),
        ("0::/init.scope\n", ""),
    ],
)
def test_cgroups(text, kind):
    assert cgroup.kind(text) == kind


def test_mounts_of_containers_that_run_here_do_not_count():
    host = (
        "25 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n"
        "90 25 0:50 / /var/lib/docker/overlay2/abc/merged rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/X\n"
    )
    inside = "1 0 0:50 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/X\n"
    assert cgroup.kind(cgroup.inside_mounts(host)) == ""
    assert cgroup.kind(cgroup.inside_mounts(inside)) == "docker"


def test_dpkg_states():
    status = (
        "Package: libcuda1\nStatus: install ok installed\nVersion: 535.54-1\n\n"
        "Package: vim\nStatus: install ok installed\nVersion: 9\n\n"
        "Package: nvidia-dkms-535\nStatus: install ok half-configured\nVersion: 535.54-0ubuntu1\nDescription: x\n more\n"
    )
    assert [(p.name, p.version, p.state) for p in dpkg_status.parse(status)] == [
        ("libcuda1", "535.54-1", "installed"),
        ("nvidia-dkms-535", "535.54-0ubuntu1", "half-configured"),
    ]


def test_command_line_keeps_no_secrets():
    line = "BOOT_IMAGE=/vmlinuz root=UUID=aa ip=10.0.0.5 intel_iommu=on iommu=pt rd.iscsi.password=x modprobe.blacklist=nouveau nouveau.modeset=0 quiet"
    assert command_line.relevant(line) == (
        "intel_iommu=on",
        "iommu=pt",
        "modprobe.blacklist=nouveau",
        "nouveau.modeset=0",
    )


@pytest.mark.parametrize(
    ("number", "gfx"),
    [("90402", "gfx942"), ("90010", "gfx90a"), ("100300", "gfx1030"), ("110000", "gfx1100"), ("0", "")],
)
def test_amd_targets(number, gfx):
    assert kfd.gfx(f"simd_count 4\ngfx_target_version {number}\n") == gfx


def test_rocm_smi():
    text = "WARNING: x\n" + json.dumps(
        {"card0": {"Card Series": "Some Radeon", "GFX Version": "gfx1100"}, "system": {"Driver version": "6.3.6"}}
    )
    assert kfd.smi(text) == ((("Some Radeon", "gfx1100"),), "6.3.6")
