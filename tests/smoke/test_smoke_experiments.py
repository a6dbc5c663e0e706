"""Differential runs against scripted children, and how what they confirm reaches the diagnoses."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import facts
import pytest
import scripted

from tfdoctor.checkup import check
from tfdoctor.commands.smoke import Driven, relevant
from tfdoctor.host import RecordedHost
from tfdoctor.model import Report
from tfdoctor.probes.smoke import SmokeResults
from tfdoctor.rules.tensorflow.tfd524_smoke_test_failed import smoke_test_failed
from tfdoctor.smoke.differential import CHANGES, Culprits, better, culprits, experiments_on, rounds
from tfdoctor.smoke.nccl import interface, transports
from tfdoctor.smoke.places import bus_of, card_name
from tfdoctor.smoke.plan import TESTS
from tfdoctor.smoke.results import Experiment, SmokeResult
from tfdoctor.smoke.runner import Runner
from tfdoctor.smoke.session import Session

HOSTS = Path(__file__).resolve().parent.parent / "hosts"
ALLREDUCE = next(t for t in TESTS if t.name == "allreduce")
HUNG = SmokeResult("allreduce", "hung", "no end within 300 s; the last step was: AllReduce", stage="AllReduce")


def experiments(tmp_path: Path, body: str, devices: list[int], timeout: float = scripted.LIMIT) -> list[Experiment]:
    runner = scripted.runner(tmp_path, body)
    options = {"sizes": [1024], "ways": ["default"]}
    return list(experiments_on(HUNG, ALLREDUCE, runner, options, timeout=timeout, devices=devices))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_the_variable_that_helps_is_found(tmp_path: Path, change) -> None:  # type: ignore[no-untyped-def]
    """Without it the child aborts, as NCCL does; every change before it was tried and did not help."""
    ((name, value),) = change.environment.items()
    body = f"passed(pipe) if os.environ.get({name!r}) == {value!r} else os.abort()"
    found = experiments(tmp_path, body, [0, 1])
    assert [e.what for e in found] == [c.what for c in CHANGES[: CHANGES.index(change) + 1]]
    assert [e.helped for e in found] == [False] * (len(found) - 1) + [True]
    assert found[-1].confirms == change.confirms
    assert found[-1].result.environment["NCCL_DEBUG"] == "INFO"


def test_a_child_that_hangs_without_the_variable(tmp_path: Path) -> None:
    body = "passed(pipe) if os.environ.get('NCCL_SHM_DISABLE') == '1' else time.sleep(600)"
    found = experiments(tmp_path, body, [0, 1], timeout=5)
    assert [(e.result.state, e.helped) for e in found] == [("hung", False), ("passed", True)]


def test_nothing_helps(tmp_path: Path) -> None:
    found = experiments(tmp_path, "os.abort()", [0, 1])
    assert len(found) == len(CHANGES) and not any(e.helped for e in found)
    assert culprits(found) == Culprits()


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ("2 in pair", Culprits(cards=(2,))),
        ("pair == [0, 3]", Culprits(pairs=((0, 3),))),
        ("2 in pair or pair == [0, 1]", Culprits(cards=(2,), pairs=((0, 1),))),
        ("pair", Culprits()),
    ],
)
def test_pairs_name_the_card_or_the_pair(tmp_path: Path, bad: str, expected: Culprits) -> None:
    body = f"pair = options.get('devices'); os.abort() if pair is None or {bad} else passed(pipe)"
    assert culprits(experiments(tmp_path, body, [0, 1, 2, 3])) == expected


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_every_pair_is_in_one_round_and_no_card_twice_in_a_round(count: int) -> None:
    devices = list(range(10, 10 + count))
    together = list(rounds(devices))
    assert sorted(pair for some in together for pair in some) == list(combinations(devices, 2))
    assert all(len({card for pair in some for card in pair}) == 2 * len(some) for some in together)
    assert len(together) == count - 1 + count % 2


def test_pairs_that_hang_are_tried_side_by_side(tmp_path: Path) -> None:
    """Four cards: three rounds of two pairs, so that a hang costs its limit three times and not six."""
    body = """
    if options.get("devices") is None:
        os.abort()
    with open(__file__ + ".log", "a") as log:
        log.write("+\\n")
    time.sleep(1)
    with open(__file__ + ".log", "a") as log:
        log.write("-\\n")
    passed(pipe)
    """
    experiments(tmp_path, body, [0, 1, 2, 3])
    assert "+\n+\n" in (tmp_path / "hook.py.log").read_text()


def test_a_slow_test_is_helped_only_by_a_much_faster_one() -> None:
    def took(seconds: float) -> SmokeResult:
        measured = {"replicas": 2, "allreduce": [{"way": "default", "bytes": 2**24, "seconds": seconds}]}
        return SmokeResult("allreduce", "passed", "", measured=measured)

    assert better(took(1.0), took(0.4))
    assert not better(took(1.0), took(0.8))
    assert not better(took(1.0), HUNG) and better(HUNG, took(9.0))


LOG = """
I tensorflow/core/common_runtime/gpu/gpu_device.cc:2022] Created device /job:localhost/replica:0/task:0/device:GPU:0 with \
22000 MB memory:  -> device: 1, name: NVIDIA GeForce RTX 3090, pci bus id: 0000:02:00.0, compute capability: 8.6
box:1:2 [0] NCCL INFO NET/Socket : Using [0]docker0:172.17.0.1<0>
box:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct
box:1:2 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] [send] via NET/Socket/0
"""


def test_what_nccl_and_tensorflow_say_of_the_way() -> None:
    assert transports(LOG) == {"SHM", "NET/Socket"} and transports("via P2P") == frozenset()
    assert interface(["", LOG]) == "docker0"
    smoke = SmokeResults((SmokeResult("devices", "passed", "", log=LOG),), (), (), "tfdoctor smoke")
    assert (bus_of(smoke, 1), bus_of(smoke, 0)) == ("0000:02:00.0", "")
    cards = facts.gpus(facts.gpu(0, bus="0000:02:00.0"), facts.gpu(1, bus="0000:01:00.0"))
    assert card_name(smoke, 1, cards) == f"{cards.gpus[0].label} (0000:02:00.0)"
    assert "TensorFlow's GPU 5" in card_name(smoke, 5, cards)


def helped(test: str, what: str, *confirms: str, log: str = "") -> Experiment:
    result = SmokeResult(test, "passed", "", measured={"gpus": 1}, log=log)
    return Experiment(test, what, confirms, True, result)


def listed(count: int, **changes: object) -> SmokeResult:
    more = {"measured": {"gpus": count}, "devices": ("CPU:0",), "tensorflow": "2.21.0", "rehearsal": True, **changes}
    return SmokeResult("devices", "passed", "1 check right", **more)  # type: ignore[arg-type]


def report(host: str, smoke: SmokeResults) -> Report:
    return check(RecordedHost(str(HOSTS / host)), smoke=smoke)


def says(found: Report, code: str) -> list[str]:
    return [e.says for o in found.found if o.rule.code == code for d in o.diagnoses for e in d.evidence]


@pytest.mark.parametrize(
    ("host", "code", "name"),
    [
        ("ubuntu-rtx3090-tf2.21-library-path", "TFD302", "release-library-path-defect"),
        ("ubuntu-rtx3090-tf2.20-hidden", "TFD601", "cuda-visible-devices-hidden"),
    ],
)
def test_the_cause_that_check_named_is_confirmed_or_not(host: str, code: str, name: str) -> None:
    experiment = helped("devices", "the change", name)
    found = report(host, SmokeResults((listed(0),), (experiment,), (), "tfdoctor smoke"))
    assert "confirmed by experiment: devices works with the change" in says(found, code)
    assert (found.verdict.gpu, found.verdict.because, found.verdict.proven) == ("no", name, "no")
    assert "With the change it lists them." in found.verdict.summary
    vain = Experiment("devices", "the change", (name,), False, listed(0))
    found = report(host, SmokeResults((listed(0),), (vain,), (), "tfdoctor smoke"))
    assert any(text.startswith("not confirmed by experiment") for text in says(found, code))


def test_a_contradicted_prediction_is_a_finding_and_stands_beside_the_proof() -> None:
    found = report("ubuntu-rtx3090-tf2.20-healthy", SmokeResults((listed(0),), (), (), "tfdoctor smoke"))
    assert (found.verdict.predicted, found.verdict.proven) == ("yes", "no")
    assert "TFD003" in {o.rule.code for o in found.found}
    right = listed(1, devices=("GPU:0",), rehearsal=False)
    found = report("ubuntu-rtx3090-tf2.20-healthy", SmokeResults((right,), (), (), "tfdoctor smoke"))
    assert (found.verdict.predicted, found.verdict.proven) == ("yes", "yes")
    assert not found.found


def test_a_rule_that_reads_logs_fires_on_an_experiment() -> None:
    experiment = helped("allreduce", "NCCL_SOCKET_IFNAME=lo", "nccl-wrong-interface", log=LOG)
    smoke = SmokeResults((listed(1), HUNG), (experiment,), (), "tfdoctor smoke")
    found = report("ubuntu-rtx3090-tf2.20-healthy", smoke)
    (outcome,) = [o for o in found.found if o.rule.code == "TFD807"]
    assert "NCCL uses docker0" in outcome.diagnoses[0].message
    assert any("allreduce works with NCCL_SOCKET_IFNAME=lo" in text for text in says(found, "TFD807"))


def test_what_nccl_printed_goes_through_the_known_errors() -> None:
    log = "box:1:2 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-abc to 33030528 bytes\n"
    failed = SmokeResult("allreduce", "failed", "InternalError: unhandled system error", log=log)
    host = RecordedHost(str(HOSTS / "ubuntu-rtx3090-tf2.20-healthy"))
    found = relevant(host, SmokeResults((listed(1), failed), (), (), "tfdoctor smoke"))
    assert any("shm" in text and "known error" in text for text in says(found, "TFD524")), says(found, "TFD524")


def test_scaling_that_does_not_pay() -> None:
    scaling = SmokeResult(
        "scaling", "passed", "", measured={"steps_per_second": {"1": 10.0, "2": 4.0}}, devices=("GPU:0", "GPU:1")
    )
    found = report("ubuntu-rtx3090-tf2.20-healthy", SmokeResults((listed(1), scaling), (), (), "tfdoctor smoke"))
    assert any("40% of 2 GPUs" in text for text in says(found, "TFD817"))


def test_the_diagnosis_names_transport_card_and_pair() -> None:
    runs = [helped("allreduce", "NCCL_P2P_DISABLE=1", "p2p-broken-by-iommu-acs")]
    for pair in ((0, 1), (0, 2), (1, 2)):
        works = 2 not in pair
        runs.append(Experiment("allreduce", f"{pair}", (), works, HUNG, devices=pair))
    smoke = SmokeResults((listed(3), HUNG), tuple(runs), (), "tfdoctor smoke")
    message = facts.found(smoke_test_failed, smoke).message
    assert "It works with NCCL_P2P_DISABLE=1." in message
    assert "No pair works with TensorFlow's GPU 2" in message


# The whole round, with the stand-in for TensorFlow ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "needs", "what"),
    [
        ({}, "'nvidia' in os.environ.get('LD_LIBRARY_PATH', '')", "the NVIDIA wheels' folders on LD_LIBRARY_PATH"),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, "'CUDA_VISIBLE_DEVICES' not in os.environ", "CUDA_VISIBLE_DEVICES unset"),
    ],
)
def test_a_gpu_that_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], needs: str, what: str
) -> None:
    where = scripted.stand_in(tmp_path)
    (where / "nvidia" / "cudnn" / "lib").mkdir(parents=True)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for name, value in {"PYTHONPATH": str(where), **variables}.items():
        monkeypatch.setenv(name, value)
    hook = scripted.hook(tmp_path, f"os.environ['STAND_IN_GPUS'] = str(int({needs}))")
    session = Session(Runner(sys.executable, hook=hook), gpus_seen=1, timeout=scripted.LIMIT)
    (result,) = session.run(["devices"])
    assert result.passed and result.rehearsal
    assert [(e.what, e.helped) for e in session.experiments] == [(what, True)]
    unasked = Session(Runner(sys.executable, hook=hook), gpus_seen=0, timeout=scripted.LIMIT)
    assert len(list(unasked.run(["devices"]))) == 1 and not unasked.experiments


def test_a_round_where_allreduce_hangs_over_two_gpus(tmp_path: Path) -> None:
    """Later tests still run; one device would have been left out with its reason."""
    body = """
    if options["test"] == "devices":
        passed(pipe, gpus=2, listed=[{"name": "a"}, {"name": "b"}])
    if options["test"] == "allreduce" and os.environ.get("NCCL_P2P_DISABLE") != "1":
        time.sleep(600)
    passed(pipe)
    """
    runner = scripted.runner(tmp_path, body)
    session = Session(runner, timeout=5)
    states = {r.test: r.state for r in session.run(["allreduce", "scaling"])}
    assert states == {"allreduce": "hung", "scaling": "passed"}
    assert [(e.what, e.helped) for e in session.experiments] == [("NCCL_P2P_DISABLE=1", True)]


def test_an_allreduce_that_is_far_too_slow_is_looked_into(tmp_path: Path) -> None:
    body = """
    if options["test"] == "devices":
        passed(pipe, gpus=2, listed=[{"name": "NVIDIA GeForce RTX 3090"}] * 2)
    seconds = 0.001 if os.environ.get("NCCL_SHM_DISABLE") else 1.0
    passed(pipe, replicas=2, allreduce=[{"way": "default", "bytes": 2**24, "seconds": seconds}])
    """
    driven = Driven(facts.gpus(facts.gpu(0), facts.gpu(1)), facts.topology({(0, 1): "PHB"}), facts.tables())
    session = Session(scripted.runner(tmp_path, body), timeout=scripted.LIMIT, too_slow=driven.too_slow)
    (result,) = session.run(["allreduce"])
    assert result.passed
    assert [(e.what, e.helped) for e in session.experiments] == [
        ("NCCL_P2P_DISABLE=1", False),
        ("NCCL_SHM_DISABLE=1", True),
    ]


def test_an_import_that_fails_ends_the_round_and_is_told(tmp_path: Path) -> None:
    session = Session(scripted.runner(tmp_path, "raise ImportError('libcudart.so.12')"), timeout=scripted.LIMIT)
    (result,) = session.run(["matmul"])
    assert (result.test, result.state) == ("devices", "failed")
