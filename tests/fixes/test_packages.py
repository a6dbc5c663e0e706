"""The set of versions: around one TensorFlow, with what must stay, and never two pins that fight."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from tfdoctor.fixes.packages import Settled, Wishes, World, _tidied, settle
from tfdoctor.model import Fix
from tfdoctor.probes.interpreter import Distribution, Distributions
from tfdoctor.tables import Tables

TABLES = Tables()


def world(
    installed: Mapping[str, str], lowest: tuple[int, int] | None = None, fitting: str = ">=2.12,!=2.21.*"
) -> World:
    by_name = {name: Distribution(name, version, "/site") for name, version in installed.items()}
    releases = [r for r in TABLES.releases() if SpecifierSet(fitting).contains(r.version)]
    return World(Distributions(by_name, {}, "metadata"), None, TABLES, lowest, lambda: releases)


def settled(where: World, *fixes: Fix, keep: tuple[str, ...] = ()) -> Settled:
    wishes = Wishes()
    for fix in fixes:
        wishes.add(fix)
    return settle(wishes, where, keep)


def install(*requirements: str) -> Fix:
    return Fix("", requirements=requirements)


def texts(found: Settled) -> dict[str, str]:
    return {name: str(wish) for name, wish in found.wanted.items()}


def test_within_what_the_release_asks_for() -> None:
    found = settled(world({"tensorflow": "2.10.1", "protobuf": "4.25.3"}), install("protobuf<3.21"))
    assert texts(found) == {"protobuf": "protobuf<3.20,>=3.9.2"}
    assert found.pins == ("tensorflow==2.10.1",)


def test_the_release_stays_with_its_extra() -> None:
    cuda = dict.fromkeys(TABLES.release("2.20.0").and_cuda, "1")
    found = settled(world({"tensorflow": "2.20.0", **cuda}), install("nvidia-cudnn-cu12<9.11"))
    assert found.pins == ("tensorflow[and-cuda]==2.20.0",)


def test_another_release_takes_its_companions_along() -> None:
    where = world({"tensorflow": "2.20.0", "tensorflow-text": "2.20.0", "keras": "3.10.0"})
    found = settled(where, install("tensorflow==2.18.1"))
    assert texts(found)["tensorflow-text"].startswith("tensorflow-text==2.18")
    assert found.moves


def test_what_was_wished_for_the_old_release_gives_way() -> None:
    where = world({"tensorflow": "2.15.1", "keras": "3.3.3"})
    found = settled(where, install("keras==2.15.*"), install("tensorflow==2.20.0"))
    assert texts(found) == {"keras": "keras>=3.10.0", "tensorflow": "tensorflow==2.20.0"}


def test_two_wishes_for_tensorflow_become_one_that_fits_the_machine() -> None:
    where = world({"tensorflow": "2.21.0"}, fitting="==2.16.2")
    found = settled(where, install("tensorflow==2.14.1"), install("tensorflow[and-cuda]==2.20.0"))
    assert texts(found) == {"tensorflow": "tensorflow[and-cuda]==2.16.2"}
    assert found.problems == ()


def test_a_card_below_7_5_gets_the_cudnn_that_has_code_for_it() -> None:
    found = settled(world({}, lowest=(7, 0)), install("tensorflow[and-cuda]"))
    assert texts(found)["nvidia-cudnn-cu12"] == "nvidia-cudnn-cu12<9.11,>=9.3.0.75"
    assert "nvidia-cudnn-cu12" not in texts(settled(world({}, lowest=(8, 6)), install("tensorflow[and-cuda]")))


def test_what_must_stay_chooses_the_release() -> None:
    where = world({"tensorflow": "2.15.1", "numpy": "2.1.0"})
    found = settled(where, install("numpy<2"), keep=("numpy",))
    assert found.problems == ()
    assert "numpy==2.1.0" in found.pins
    assert "numpy" not in found.wanted


def test_nothing_goes_with_what_must_stay() -> None:
    where = world({"tensorflow": "2.15.1", "numpy": "2.1.0"}, fitting="<2.16,>=2.12")
    found = settled(where, install("numpy<2"), keep=("numpy",))
    assert "numpy 2.1.0 must stay" in found.problems[0]


def test_what_must_stay_is_not_removed() -> None:
    found = settled(
        world({"tensorflow": "2.15.1", "tensorflow-cpu": "2.15.1"}),
        Fix("", removes=("tensorflow-cpu",)),
        keep=("tensorflow-cpu",),
    )
    assert found.problems


def test_a_companion_does_not_bring_a_second_tensorflow() -> None:
    """tf-keras asks for the distribution tensorflow; beside tensorflow-cpu it would overwrite it."""
    wish = install("tf-keras==2.20.*")
    assert settled(world({"tensorflow-cpu": "2.20.0"}), wish).alone == {"tf-keras"}
    assert settled(world({"tensorflow": "2.20.0"}), wish).alone == frozenset()


def test_ranges_that_no_version_is_in() -> None:
    found = settled(world({}), install("keras<3"), install("keras>=3.1"))
    assert "no version of keras" in found.problems[0]


def test_no_release_for_this_machine() -> None:
    assert settled(world({}, fitting="<1"), install("tensorflow")).problems


@given(st.lists(st.sampled_from(["<3", "<2.5", ">=1", ">=2", "!=2.2", "==2.1", "==2.*", "~=2.0"]), max_size=4))
def test_fewer_words_mean_the_same(parts: list[str]) -> None:
    both = SpecifierSet(",".join(parts))
    candidates = ["0.9", "1", "1.5", "2", "2.1", "2.2", "2.4", "2.5", "2.9", "3", "3.1"]
    if any(both.contains(v) for v in candidates):
        short = _tidied(both)
        assert [v for v in candidates if short.contains(v)] == [v for v in candidates if both.contains(v)]
        assert len(short) <= len(both)


@pytest.mark.parametrize("text", ["", "a b", "keras==", "@"])
def test_what_is_no_requirement_is_named(text: str) -> None:
    assert settled(world({}), install(text)).problems
