"""The scrubber: what goes, what stays, and that equal things stay equal."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdoctor.scrub import Scrubber

ALICE = Scrubber(
    users=["alice", "root", "gpu"],
    hosts=["box-7.lab.example", "box-7", "localhost"],
    homes=["/data/people/alice", "/root", "/"],
)
UUID = "8f3a1b2c-1111-4222-8333-444455556666"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("/home/bob/train.py", "bob"),
        ("/Users/bob/train.py", "bob"),
        (r"C:\Users\John Smith\AppData\x", "Smith"),
        (r'"C:\\Users\\bob\\x"', "bob"),
        ("/mnt/c/Users/bob/x", "bob"),
        ("/data/people/alice/venv", "people"),
        ("file:///home/bob/w", "bob"),
        ("started by alice.", "alice"),
        ("Alice-project", "Alice"),
        ("on box-7.lab.example now", "box-7"),
        ("alice@box-7:~$ python x.py", "alice"),
        ("joe@other-machine:/tmp$ ls", "other-machine"),
        ("Mar 12 10:00:00 other-machine kernel: NVRM: x", "other-machine"),
        ("2024-05-01T10:00:00+02:00 other-machine kernel: NVRM: x", "other-machine"),
        ("(dvs@maker-12) (gcc version 12)", "maker-12"),
        ("write to joe.doe@corp.example.org", "joe.doe"),
        ("NET/Socket : Using [0]eth0:10.21.2.3<0>", "10.21.2.3"),
        ("192.168.7.8:2222", "192.168.7.8"),
        ("http://10.9.8.7/x", "10.9.8.7"),
        ("connecting to the server: 10.21.2.3", "10.21.2.3"),
        ("the driver of node 10.21.2.3", "10.21.2.3"),
        ("the driver 10.21.2.3", "10.21.2.3"),
        ("NCCL_SOCKET_ADDR=10.21.2.3", "10.21.2.3"),
        ("nccl-node-10.21.2.3", "10.21.2.3"),
        ("conversion at 10.21.2.3", "10.21.2.3"),
        ("https://bucket.example/a.whl?X-Amz-Signature=5ecret&Expires=3", "5ecret"),
        ("fe80::1ff:fe23:4567:890a", "4567"),
        ("addr 2a02:8109:1:2:3:4:5:6.", "8109"),
        ("a4:bf:01:22:33:44", "bf:01"),
        ("Device Serial Number a4-bf-01-ff-ff-22-33-44", "a4-bf"),
        ("GPU Board Serial Number: 1324520012345", "1324520012345"),
        ("GPU serial number is 1324520012345.", "1324520012345"),
        ("<serial>1324520012345</serial>", "1324520012345"),
        ('"Serial Number": "PCB012345-67",', "PCB012345"),
        ('"Unique ID": "0x12ab34cd56ef7890",', "12ab34cd"),
        ("<pdi>0x12ab34cd56ef7890</pdi>", "12ab34cd"),
        (f"UUID: GPU-{UUID}", "8f3a1b2c"),
        (f"root=UUID={UUID}", "8f3a1b2c"),
        ("kubepods-pod8f3a1b2c_1111_4222_8333_444455556666.slice", "8f3a1b2c"),
        ("CUDA_VISIBLE_DEVICES=GPU-8f3a1b2c", "8f3a1b2c"),
        ("WANDB_API_KEY=0123abcd4567", "0123abcd"),
        ("password: hunter22", "hunter22"),
        ('{"client_secret": "hunter22"}', "hunter22"),
        ("https://bob:hunter22@example.org/x", "hunter22"),
        ("Authorization: Bearer abcdef.ghijkl-12345", "ghijkl"),
        ("hf_abcdefghijABCDEFGHIJ1234", "abcdefghij"),
        ("ghp_abcdefghijABCDEFGHIJ1234", "abcdefghij"),
        ("AKIAABCDEFGHIJKLMNOP", "ABCDEFGH"),
        ("python train.py --api-key hunter22 --steps 3", "hunter22"),
        ("mysql --password 'x' --token hunter22", "hunter22"),
        ("glcbt-64_abcdefABCDEF1234", "abcdefABC"),
        ("dckr_pat_abcdefABCDEF1234", "abcdefABC"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def", "eyJzdWIi"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
        ("ip-10-21-2-3.ec2.internal", "10-21"),
        ("docker-" + "ab" * 32 + ".scope", "abababab"),
    ],
)
def test_what_goes(text, secret):
    once = ALICE.text(text)
    assert secret not in once
    assert ALICE.text(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "nvidia-cudnn-cu12==9.1.0.70",
        "nvidia-curand-cu12>=10.3.2.106",
        "Successfully installed nvidia-cufft-cu12-11.0.2.54 nvidia-curand-cu12-10.3.2.106",
        "nvidia_cublas_cu12-12.1.3.1.dist-info",
        "Loaded cuDNN version 8.9.2.26",
        "libcufft.so.11.2.1.3",
        "5.15.167.4-microsoft-standard-WSL2",
        "driver 31.0.15.3623",
        "VBIOS Version : 90.04.96.00.9F",
        "535.183.01",
        "127.0.0.1:8080",
        "0.0.0.0",
        "::1",
        "tensorflow::ops::Add",
        "std::vector<int>::at",
        "12:30:45",
        "0000:3b:00.0",
        "00000000:3B:00.0",
        "NVRM: Xid (PCI:0000:91:00): 79, pid=42, name=python",
        "GPU-I:05",
        "MIG 1g.5gb",
        "max_tokens=128, tokens: 32",
        "tokenizer=sentencepiece",
        "--max-tokens 128 --tokenizer bpe --tokens --verbose",
        "tfdoctor: no token was given",
        "memcpy@GLIBC_2.2.5",
        "serial8250: ttyS0 at I/O 0x3f8",
        "<serial>N/A</serial>",
        "root",
        "GPU 0",
        "HOME=/root",
        "/home/kubernetes/bin/nvidia/lib64",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01",
        "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
        "malice and palaces",
    ],
)
def test_what_stays(text):
    assert ALICE.text(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"version": "9.1.0.70"},
        {"requires": ["x (>=1.2.3.4)"], "n": 5, "on": True, "none": None},
        {"serial": "N/A"},
        {"cudnn": "9.1.0.70", "driver": "31.0.15.3623", "library_version": "12.550.54.14"},
        {"says": "driver 550.54.14, 535.183.01, 31.0.15.3623"},
    ],
)
def test_values_that_stay(value):
    assert Scrubber().value(value) == value


@pytest.mark.parametrize(
    "value", [{"address": "10.3.2.106"}, ["10.3.2.106"], {"NCCL_COMM_ID": "10.3.2.106"}, "10.3.2.106"]
)
def test_four_numbers_without_a_name_are_an_address(value):
    assert "10.3.2.106" not in str(Scrubber().value(value))


def test_a_version_that_a_field_named_stays_everywhere():
    scrub = Scrubber()
    scrub.learn_value({"libraries": [{"soname": "libcurand.so.10", "version": "10.3.2.106"}], "host": "10.3.2.107"})
    assert scrub.text("10.3.2.106 is older than 10.3.3") == "10.3.2.106 is older than 10.3.3"
    assert scrub.text("at 10.3.2.107") == "at 192.0.2.1"


def test_values_by_their_keys():
    assert Scrubber().value(
        {"serial": "AB12", "uuid": f"GPU-{UUID}", "/home/bob/x": ["/home/bob/y"], "token": "t0p"}
    ) == {
        "serial": "redacted",
        "uuid": "GPU-00000000-0000-0000-0000-000000000001",
        "/home/user/x": ["/home/user/y"],
        "token": "redacted",
    }


def test_equal_things_stay_equal_and_different_ones_different():
    other = UUID.replace("8f3a", "9f3a")
    scrub = Scrubber()
    first, second = scrub.text(f"GPU-{UUID} GPU-{other}").split()
    assert first != second
    assert scrub.text(f"MIG-{UUID.upper()}") == first.replace("GPU", "MIG")
    assert scrub.text("CUDA_VISIBLE_DEVICES=GPU-9f3a") == f"CUDA_VISIBLE_DEVICES={second}"


def test_a_shortened_uuid_of_no_gpu_names_none():
    scrub = Scrubber()
    scrub.learn(UUID)
    assert scrub.text("GPU-deadbeef") == "GPU-ffffffff"


def test_names_of_the_trade_are_not_replaced_as_users():
    scrub = Scrubber(users=["nvidia", "python", "tf", ""], hosts=["gpu", "localhost", ""])
    text = "nvidia-smi python tf gpu localhost"
    assert scrub.text(text) == text
    assert scrub.text("/home/nvidia/x") == "/home/user/x"


@given(
    text=st.text(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                "GPU-",
                UUID,
                UUID[:8],
                ":",
                "1.2.3.4",
                "::",
                "@",
                "a.b",
                "/home/",
                "Users\\",
                " serial ",
                "=",
                "token",
                "-----BEGIN X-----",
                "\n",
                "alice",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_no_text_makes_it_raise(text):
    assert UUID not in ALICE.text(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)


@given(value=JSON)
def test_any_json(value):
    json.dumps(ALICE.value(value))
    ALICE.learn_value(value)


@pytest.mark.parametrize(
    "line",
    [
        "2023-01-01 I cuda_diagnostics.cc:169] retrieving CUDA diagnostic information for host: owl-17.lab.example",
        "2023-01-01 I cuda_diagnostics.cc:176] hostname: owl-17",
        "owl-17:1234:1300 [0] NCCL INFO Bootstrap : Using eth0",
        "owl-17:1234:1300 [3] include/shm.h:28 NCCL WARN Call to posix_fallocate failed",
        "Linux owl-17 5.15.0-91-generic #101-Ubuntu SMP x86_64 GNU/Linux",
    ],
)
def test_the_host_that_a_log_names_is_replaced_all_over_it(line):
    """The log of another machine: nothing else knows what that one is called."""
    clean = Scrubber().text(f"grpc://owl-17:2222 is up\n{line}\nsrun: error: owl-17: task 0\n")
    assert "owl" not in clean and "grpc://host:2222 is up" in clean


@pytest.mark.parametrize(
    "text",
    ["hostname: lookup of the name failed", "Linux version 5.15.0 (x) #1", "] hostname: localhost\nat localhost"],
)
def test_what_names_no_host_stays(text):
    assert Scrubber().text(text) == text


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files")
def test_names_of_a_machine(tmp_path, monkeypatch):
    from tfdoctor.host import LiveHost

    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hostname").write_text("deepbox.lab\n")
    (tmp_path / "etc/passwd").write_text(
        "root:x:0:0::/root:/bin/sh\ncarol:x:1002:1002::/srv/people/carol:/bin/sh\nbroken\n"
    )
    monkeypatch.setenv("USER", "dave")
    monkeypatch.setenv("SLURM_JOB_USER", "erinn")
    monkeypatch.setattr("platform.node", lambda: "deepnode4.lab")
    scrub = Scrubber.of(LiveHost(root=str(tmp_path)))
    assert (
        scrub.text("dave carol erinn deepbox deepbox.lab deepnode4 /srv/people/carol/x root")
        == "user user user host host host /home/user/x root"
    )
