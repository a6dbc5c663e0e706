"""Claims that circulate in articles and are wrong: the tables say otherwise."""

from __future__ import annotations

from tfdoctor.tables import Tables

TABLES = Tables()


def test_tensorflow_2_12_goes_with_cudnn_8_6_not_8_2():
    row = TABLES.release("2.12")
    assert (row.cuda_minor, row.cudnn) == ("11.8", "8.6")


def test_tensorflow_2_14_goes_with_cuda_11_8_and_cudnn_8_7_not_cuda_12():
    for version in ("2.14.0", "2.14.1"):
        row = TABLES.release(version)
        assert (row.cuda_minor, row.cudnn) == ("11.8", "8.7")
        assert row.and_cuda_resolved["nvidia-cuda-runtime-cu11"] == "11.8.89"
        assert row.and_cuda_resolved["nvidia-cudnn-cu11"] == "8.7.0.84"
    first = min((r for r in TABLES.releases() if r.cuda.startswith("12.")), key=lambda r: r.released)
    assert (first.version, first.cuda_minor, first.cudnn) == ("2.15.0", "12.2", "8.9")


def test_cuda_11_8_runs_on_driver_450_not_only_from_525():
    floor = TABLES.driver_floor(TABLES.release("2.12").cuda)
    assert (floor.minimum, floor.own) == ("450.80.02", "520.61.05")
    assert TABLES.driver_floor(TABLES.release("2.12").cuda, "windows").minimum == "452.39"
    assert TABLES.driver_floor("12.0").minimum == "525.60.13"


def test_launch_failed_is_a_fault_in_a_kernel_and_no_version_mismatch():
    row = TABLES.error("CUDA_ERROR_LAUNCH_FAILED")
    assert row.value == 719
    assert "not a version mismatch" in row.meaning
    assert "reinstall" not in row.advice
    mismatches = {"cudaErrorInsufficientDriver": 35, "cudaErrorSystemDriverMismatch": 803}
    for name, value in mismatches.items():
        assert TABLES.error(name).value == value
    assert TABLES.error("CUDA_ERROR_UNSUPPORTED_PTX_VERSION").value == 222
    assert TABLES.error("CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE").value == 804


def test_set_random_seed_is_no_gradient_checkpointing():
    row = TABLES.api_name("tf.keras.utils.set_random_seed")
    assert row.exists and "seeds" in row.what and "tf.recompute_grad" in row.instead


def test_keras_has_no_set_memory_growth():
    row = TABLES.api_name("tf.keras.utils.set_memory_growth")
    assert not row.exists and "tf.config.experimental.set_memory_growth" in row.instead


def test_scale_loss_for_gradient_taping_does_not_exist():
    row = TABLES.api_name("keras.mixed_precision.experimental.scale_loss_for_gradient_taping")
    assert not row.exists and "LossScaleOptimizer" in row.instead


def test_h100_has_the_fourth_nvlink_and_a100_the_third():
    h100, a100 = TABLES.gpu("H100 SXM5 80GB"), TABLES.gpu("A100-SXM4-80GB")
    assert (h100.nvlink_generation, h100.nvlink_gbs) == (4, 900)
    assert (a100.nvlink_generation, a100.nvlink_gbs) == (3, 600)
    assert TABLES.nvlink(4).gbs_per_gpu_both_directions == 900
    assert TABLES.nvlink(3).gbs_per_gpu_both_directions == 600


def test_memory_of_an_h100_is_faster_than_its_nvlink():
    row = TABLES.gpu("NVIDIA H100 80GB HBM3")
    assert row.memory_bandwidth_gbs == 3350


def test_tencent_gn10xp_has_v100s_and_gt4_has_a100s():
    gn10xp, gt4 = TABLES.instance("GN10Xp.20XLARGE320"), TABLES.instance("GT4.41XLARGE948")
    assert gn10xp.gpu == "NVIDIA V100 SXM2"
    assert (gn10xp.memory_gb, gn10xp.nvlink_generation) == (32, 2)
    assert gt4.gpu == "NVIDIA A100 SXM4 40GB"
