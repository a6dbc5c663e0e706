"""The stand-in libnvidia-ml.so.1, seen through the real pynvml in a child process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Optional

import fake_nvml
import pytest

HEAD = """
import ctypes, json, pynvml as p

def ask(function, *arguments):
    try:
        answer = function(*arguments)
    except p.NVMLError as error:
        return f"!{error.value}"
    except p.NVMLLibraryMismatchError:  # an unversioned wrapper over a driver that lacks its newest form
        return "mismatch"
    return plain(answer)

def plain(value):
    # The same in old and new releases of pynvml: text is str, numbers are int.
    value = value.decode() if isinstance(value, bytes) else value
    return getattr(value, "value", value)

def show(value):
    print(json.dumps(value))
"""


@pytest.fixture(autouse=True)
def _compiler() -> None:
    fake_nvml.need_compiler()


def start(env: dict[str, str], script: str, timeout: Optional[float] = 60) -> subprocess.CompletedProcess[str]:
    code = HEAD + textwrap.dedent(script)
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


def asked(env: dict[str, str], script: str) -> Any:
    done = start(env, "p.nvmlInit()\n" + textwrap.dedent(script))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_one_consumer_gpu(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.rtx3090(), tmp_path)
    got = asked(
        env,
        """
        h = p.nvmlDeviceGetHandleByIndex(0)
        show({
            "driver": ask(p.nvmlSystemGetDriverVersion), "nvml": ask(p.nvmlSystemGetNVMLVersion),
            "cuda": ask(p.nvmlSystemGetCudaDriverVersion), "count": ask(p.nvmlDeviceGetCount),
            "name": ask(p.nvmlDeviceGetName, h), "cc": ask(p.nvmlDeviceGetCudaComputeCapability, h),
            "pci": plain(p.nvmlDeviceGetPciInfo(h).busId), "pci_id": p.nvmlDeviceGetPciInfo(h).pciDeviceId,
            "v1": p.nvmlDeviceGetMemoryInfo(h).total, "v2": p.nvmlDeviceGetMemoryInfo(h, p.nvmlMemory_v2).reserved,
            "gen": [ask(f, h) for f in (p.nvmlDeviceGetCurrPcieLinkGeneration, p.nvmlDeviceGetMaxPcieLinkGeneration,
                                        p.nvmlDeviceGetGpuMaxPcieLinkGeneration)],
            "width": [ask(p.nvmlDeviceGetCurrPcieLinkWidth, h), ask(p.nvmlDeviceGetMaxPcieLinkWidth, h)],
            "speed": ask(p.nvmlDeviceGetPcieLinkMaxSpeed, h),
            "ecc": ask(p.nvmlDeviceGetEccMode, h), "mig": ask(p.nvmlDeviceGetMigMode, h),
            "serial": ask(p.nvmlDeviceGetSerial, h), "links": [ask(p.nvmlDeviceGetNvLinkState, h, i) for i in range(5)],
            "reasons": ask(p.nvmlDeviceGetCurrentClocksEventReasons, h),
            "old reasons": ask(p.nvmlDeviceGetCurrentClocksThrottleReasons, h),
            "limits": ask(p.nvmlDeviceGetPowerManagementLimitConstraints, h),
            "shutdown": ask(p.nvmlDeviceGetTemperatureThreshold, h, p.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
            "use": p.nvmlDeviceGetUtilizationRates(h).gpu, "fabric": ask(p.nvmlDeviceGetGpuFabricInfoV, h,
                ctypes.byref(p.c_nvmlGpuFabricInfo_v2_t())),
            "cpus": list(p.nvmlDeviceGetCpuAffinity(h, 2)), "node": ask(p.nvmlDeviceGetNumaNodeId, h),
            "addressing": ask(p.nvmlDeviceGetAddressingMode, h), "processes": ask(p.nvmlDeviceGetComputeRunningProcesses, h),
        })
    """,
    )
    assert got == {
        "driver": "550.54.14",
        "nvml": "12.550.54.14",
        "cuda": 12040,
        "count": 1,
        "name": "NVIDIA GeForce RTX 3090",
        "cc": [8, 6],
        "pci": "00000000:01:00.0",
        "pci_id": 0x220410DE,
        "v1": 24576 << 20,
        "v2": 307 << 20,
        "gen": [1, 4, 4],
        "width": [16, 16],
        "speed": 4,
        "ecc": "!3",
        "mig": "!3",
        "serial": "!3",
        "links": [0, 0, 0, 0, "!2"],
        "reasons": 1,
        "old reasons": 1,
        "limits": [100000, 366000],
        "shutdown": 98,
        "use": 0,
        "fabric": "!3",
        "cpus": [0xFFFF, 0],
        "node": 0,
        "addressing": 0,
        "processes": [],
    }
    assert "nvmlDeviceGetName gpu=0" in fake_nvml.calls(env)


def test_pair_with_a_bridge(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.rtx3090_pair(), tmp_path)
    got = asked(
        env,
        """
        a, b = p.nvmlDeviceGetHandleByIndex(0), p.nvmlDeviceGetHandleByIndex(1)
        show({
            "states": [p.nvmlDeviceGetNvLinkState(a, i) for i in range(4)], "version": p.nvmlDeviceGetNvLinkVersion(a, 0),
            "remote": plain(p.nvmlDeviceGetNvLinkRemotePciInfo(a, 0).busId), "type": p.nvmlDeviceGetNvLinkRemoteDeviceType(a, 0),
            "cap": p.nvmlDeviceGetNvLinkCapability(a, 0, p.NVML_NVLINK_CAP_P2P_SUPPORTED),
            "replay": p.nvmlDeviceGetNvLinkErrorCounter(a, 0, p.NVML_NVLINK_ERROR_DL_REPLAY),
            "level": p.nvmlDeviceGetTopologyCommonAncestor(b, a), "p2p": [p.nvmlDeviceGetP2PStatus(a, b, i) for i in range(5)],
            "near": [p.nvmlDeviceGetIndex(d) for d in p.nvmlDeviceGetTopologyNearestGpus(a, 30)],
            "mbps": p.nvmlDeviceGetFieldValues(a, [p.NVML_FI_DEV_NVLINK_SPEED_MBPS_L0, p.NVML_FI_DEV_NVLINK_LINK_COUNT])[0].value.ullVal,
        })
    """,
    )
    assert got == {
        "states": [1, 1, 1, 1],
        "version": 5,
        "remote": "00000000:11:00.0",
        "type": 0,
        "cap": 1,
        "replay": 0,
        "level": 30,
        "p2p": [0, 0, 0, 0, 0],
        "near": [1],
        "mbps": 14062,
    }


def test_eight_gpus_on_switches(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.h100x8(), tmp_path)
    got = asked(
        env,
        """
        all_ = [p.nvmlDeviceGetHandleByIndex(i) for i in range(p.nvmlDeviceGetCount())]
        info = p.c_nvmlGpuFabricInfo_v3_t()
        p.nvmlDeviceGetGpuFabricInfoV(all_[7], ctypes.byref(info))
        old = p.c_nvmlGpuFabricInfo_t()
        p.nvmlDeviceGetGpuFabricInfo(all_[7], ctypes.byref(old))
        show({
            "nodes": [p.nvmlDeviceGetNumaNodeId(h) for h in all_],
            "links": sum(p.nvmlDeviceGetNvLinkState(all_[3], i) for i in range(18)),
            "type": p.nvmlDeviceGetNvLinkRemoteDeviceType(all_[3], 17),
            "fabric": [info.state, info.status, info.cliqueId, info.healthMask, info.healthSummary, old.state],
            "levels": [p.nvmlDeviceGetTopologyCommonAncestor(all_[0], h) for h in all_[1:]],
            "nvlink": p.nvmlDeviceGetP2PStatus(all_[0], all_[7], p.NVML_P2P_CAPS_INDEX_NVLINK),
            "cpus": [hex(w) for w in p.nvmlDeviceGetCpuAffinity(all_[0], 3)],
            "rows": p.nvmlDeviceGetRemappedRows(all_[0]), "histogram": p.nvmlDeviceGetRowRemapperHistogram(all_[0]).max,
        })
    """,
    )
    assert got["nodes"] == [0] * 4 + [1] * 4
    assert (got["links"], got["type"], got["nvlink"]) == (18, 2, 0)
    assert got["fabric"] == [3, 0, 0, 2, 1, 3]
    assert got["levels"] == [40] * 3 + [50] * 4
    assert got["cpus"] == ["0xffffffffffff", "0xffffffff00000000", "0xffff"]
    assert got["rows"] == [0, 0, 0, 0] and got["histogram"] == 2560


def test_mig_instances(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.a100_mig(), tmp_path)
    got = asked(
        env,
        """
        h = p.nvmlDeviceGetHandleByIndex(0)
        parts = [ask(p.nvmlDeviceGetMigDeviceHandleByIndex, h, i) for i in range(p.nvmlDeviceGetMaxMigDeviceCount(h))]
        real = [m for m in parts if m != "!6"]
        show({
            "mode": p.nvmlDeviceGetMigMode(h), "found": len(real), "is": [ask(p.nvmlDeviceIsMigDeviceHandle, m) for m in (h, real[0])],
            "names": [ask(p.nvmlDeviceGetName, m) for m in real], "uuids": len({ask(p.nvmlDeviceGetUUID, m) for m in real}),
            "ids": [[ask(p.nvmlDeviceGetGpuInstanceId, m), ask(p.nvmlDeviceGetComputeInstanceId, m)] for m in real],
            "memory": p.nvmlDeviceGetMemoryInfo(real[0]).total >> 20, "sm": p.nvmlDeviceGetAttributes(real[0]).multiprocessorCount,
            "parent": p.nvmlDeviceGetIndex(p.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(real[2])),
            "nvlink": ask(p.nvmlDeviceGetNvLinkState, h, 0), "pcie": ask(p.nvmlDeviceGetCurrPcieLinkWidth, real[0]),
        })
    """,
    )
    assert got["mode"] == [1, 1] and got["found"] == 3 and got["is"] == [0, 1]
    assert got["names"][0] == "NVIDIA A100-SXM4-80GB MIG 3g.40gb" and got["uuids"] == 3
    assert got["ids"] == [[1, 0], [2, 0], [3, 0]]
    assert (got["memory"], got["sm"], got["parent"], got["nvlink"], got["pcie"]) == (40192, 42, 0, "!3", "!3")


def test_t4_has_no_nvlink_and_pages_to_retire(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.t4().but({"gpu.0.retired.dbe": "0x1000 0x2000"}), tmp_path)
    got = asked(
        env,
        """
        h = p.nvmlDeviceGetHandleByIndex(0)
        show([ask(p.nvmlDeviceGetNvLinkState, h, 0), p.nvmlDeviceGetRetiredPages(h, 0), p.nvmlDeviceGetRetiredPages(h, 1),
              [page["address"] for page in p.nvmlDeviceGetRetiredPages_v2(h, 1)], p.nvmlDeviceGetVirtualizationMode(h)])
    """,
    )
    assert got == ["!3", [], [0x1000, 0x2000], [0x1000, 0x2000], 1]


def test_a_lost_gpu_answers_15_and_the_other_answers(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.lost_gpu(), tmp_path)
    got = asked(
        env,
        """
        show([ask(p.nvmlDeviceGetTemperature, p.nvmlDeviceGetHandleByIndex(i), 0) for i in range(2)])
    """,
    )
    assert got == [34, "!15"]
    env = fake_nvml.environment(fake_nvml.lost_gpu().but({"gpu.1.handle": "!15"}), tmp_path)
    assert asked(env, "show(ask(p.nvmlDeviceGetHandleByIndex, 1))") == "!15"


def test_ecc_and_rows(tmp_path: Path) -> None:
    script = """
        h = p.nvmlDeviceGetHandleByIndex(0)
        show({"mode": p.nvmlDeviceGetEccMode(h),
              "totals": [[p.nvmlDeviceGetTotalEccErrors(h, error, counter) for error in (0, 1)] for counter in (0, 1)],
              "dram": p.nvmlDeviceGetMemoryErrorCounter(h, 1, 0, p.NVML_MEMORY_LOCATION_DRAM),
              "sram": p.nvmlDeviceGetMemoryErrorCounter(h, 1, 0, p.NVML_MEMORY_LOCATION_SRAM),
              "field": p.nvmlDeviceGetFieldValues(h, [p.NVML_FI_DEV_ECC_DBE_VOL_TOTAL])[0].value.ullVal,
              "rows": p.nvmlDeviceGetRemappedRows(h)})
    """
    got = asked(fake_nvml.environment(fake_nvml.ecc_errors(), tmp_path), script)
    assert got == {"mode": [1, 1], "totals": [[4, 2], [128, 3]], "dram": 2, "sram": 0, "field": 2, "rows": [0, 1, 0, 0]}
    assert asked(fake_nvml.environment(fake_nvml.row_remap_pending(), tmp_path), script)["rows"] == [0, 1, 1, 0]
    assert asked(fake_nvml.environment(fake_nvml.row_remap_failure(), tmp_path), script)["rows"][3] == 1


def test_processes_in_all_three_forms(tmp_path: Path) -> None:
    profile = fake_nvml.busy_gpu().but({"gpu.0.graphics_processes": "1001:-"})
    got = asked(
        fake_nvml.environment(profile, tmp_path),
        """
        class V1(ctypes.Structure):
            _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong)]
        h = p.nvmlDeviceGetHandleByIndex(0)
        n, old = ctypes.c_uint(4), (V1 * 4)()
        code = p._nvmlGetFunctionPointer("nvmlDeviceGetComputeRunningProcesses")(h, ctypes.byref(n), old)
        show({"v3": [[q.pid, q.usedGpuMemory >> 20] for q in p.nvmlDeviceGetComputeRunningProcesses_v3(h)],
              "v2": [q.pid for q in p.nvmlDeviceGetComputeRunningProcesses_v2(h)], "v1": [code, n.value, old[1].pid],
              "unknown": p.nvmlDeviceGetGraphicsRunningProcesses(h)[0].usedGpuMemory, "name": ask(p.nvmlSystemGetProcessName, 4242)})
    """,
    )
    assert got == {
        "v3": [[4242, 21000], [4243, 2500]],
        "v2": [4242, 4243],
        "v1": [0, 2, 4243],
        "unknown": None,
        "name": "python3",
    }


def test_vgpu_licence(tmp_path: Path) -> None:
    profile = fake_nvml.t4().but(
        {"gpu.0.vgpu_license": "1 3 NVIDIA Virtual Compute Server", "gpu.0.virtualization_mode": 2}
    )
    got = asked(
        fake_nvml.environment(profile, tmp_path),
        """
        f = p.nvmlDeviceGetGridLicensableFeatures(p.nvmlDeviceGetHandleByIndex(0))
        one = f.gridLicensableFeatures[0]
        show([f.isGridLicenseSupported, f.licensableFeaturesCount, one.featureState, one.featureEnabled, plain(one.productName)])
    """,
    )
    assert got == [1, 1, 3, 0, "NVIDIA Virtual Compute Server"]


@pytest.mark.parametrize("code", [4, 9, 12, 15, 17, 18, 999])
def test_init_fails_with_each_code(tmp_path: Path, code: int) -> None:
    env = fake_nvml.environment(fake_nvml.init_fails(code), tmp_path)
    done = start(env, "show([ask(p.nvmlInit), ask(p.nvmlDeviceGetCount)])")
    assert json.loads(done.stdout) == [f"!{code}", "!1"]


def test_an_old_driver_lacks_symbols(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.old_driver(), tmp_path, without=fake_nvml.NEWER_SYMBOLS)
    got = asked(
        env,
        """
        h = p.nvmlDeviceGetHandleByIndex(0)
        show([ask(p.nvmlDeviceGetMemoryInfo, h, p.nvmlMemory_v2), p.nvmlDeviceGetMemoryInfo(h).total >> 20,
              ask(p.nvmlDeviceGetComputeRunningProcesses, h), p.nvmlDeviceGetComputeRunningProcesses_v2(h),
              ask(p.nvmlDeviceGetCurrentClocksEventReasons, h), p.nvmlDeviceGetCurrentClocksThrottleReasons(h),
              ask(p.nvmlSystemGetDriverVersion)])
    """,
    )
    assert got == ["!13", 15360, "mismatch", [], "!13", 1, "470.82.01"]


def test_values_can_be_errors_and_functions_can_fail(tmp_path: Path) -> None:
    profile = fake_nvml.rtx3090_pair().but(
        {
            "gpu.1.power_usage": "!4",
            "gpu.0.fail.nvmlDeviceGetUUID": 999,
            "fail.nvmlDeviceGetSerial": 14,
            "gpu.0.fan": None,
        }
    )
    got = asked(
        fake_nvml.environment(profile, tmp_path),
        """
        a, b = p.nvmlDeviceGetHandleByIndex(0), p.nvmlDeviceGetHandleByIndex(1)
        show([ask(p.nvmlDeviceGetPowerUsage, a), ask(p.nvmlDeviceGetPowerUsage, b), ask(p.nvmlDeviceGetUUID, a),
              ask(p.nvmlDeviceGetUUID, b)[:4], ask(p.nvmlDeviceGetSerial, b), ask(p.nvmlDeviceGetFanSpeed, a)])
    """,
    )
    assert got == [22000, "!4", "!999", "GPU-", "!14", "!3"]


def test_handles_by_uuid_and_bus(tmp_path: Path) -> None:
    got = asked(
        fake_nvml.environment(fake_nvml.mixed_pair(), tmp_path),
        """
        b = p.nvmlDeviceGetHandleByIndex(1)
        show([p.nvmlDeviceGetIndex(p.nvmlDeviceGetHandleByUUID(ask(p.nvmlDeviceGetUUID, b).encode())), p.nvmlDeviceGetIndex(p.nvmlDeviceGetHandleByPciBusId(b"00000000:11:00.0")),
              ask(p.nvmlDeviceGetHandleByUUID, b"GPU-none"), ask(p.nvmlDeviceGetHandleByIndex, 2)])
    """,
    )
    assert got == [1, 1, "!6", "!2"]


def test_a_call_that_never_returns_outlives_a_polite_end(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.hanging("nvmlDeviceGetMemoryInfo"), tmp_path)
    script = (
        HEAD + "p.nvmlInit(); h = p.nvmlDeviceGetHandleByIndex(0); print(1, flush=True); p.nvmlDeviceGetMemoryInfo(h)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None and child.stdout.readline() == "1\n"
        while "nvmlDeviceGetMemoryInfo gpu=0" not in fake_nvml.calls(env):
            assert child.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.3)
    finally:
        child.kill()
    assert child.wait(30) == -signal.SIGKILL


def test_a_hang_at_init_and_on_one_gpu_only(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        start(fake_nvml.environment(fake_nvml.hanging("nvmlInit"), tmp_path), "p.nvmlInit()", timeout=1)
    profile = fake_nvml.hanging("nvmlDeviceGetName", fake_nvml.mixed_pair(), gpu=1)
    got = asked(
        fake_nvml.environment(profile, tmp_path), "show(ask(p.nvmlDeviceGetName, p.nvmlDeviceGetHandleByIndex(0)))"
    )
    assert got == "NVIDIA GeForce RTX 3090"


def test_a_crash(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.crashing("nvmlDeviceGetUUID"), tmp_path)
    done = start(env, "p.nvmlInit(); p.nvmlDeviceGetUUID(p.nvmlDeviceGetHandleByIndex(0))")
    assert done.returncode == -signal.SIGSEGV


def test_no_profile_is_said_and_no_gpu_is_no_error(tmp_path: Path) -> None:
    env = fake_nvml.environment(fake_nvml.no_gpu(), tmp_path)
    assert asked(env, "show(ask(p.nvmlDeviceGetCount))") == 0
    done = start({**env, "TFDOCTOR_FAKE_NVML": str(tmp_path / "none")}, "show(ask(p.nvmlInit))")
    assert json.loads(done.stdout) == "!999" and "no profile" in done.stderr


def test_the_library_is_what_pynvml_asks_for_by_name(tmp_path: Path) -> None:
    library = fake_nvml.build(tmp_path)
    assert library.name == "libnvidia-ml.so.1" and library.is_file()
