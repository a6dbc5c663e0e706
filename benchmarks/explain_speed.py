"""How fast `explain` reads a log, and that its memory does not grow with it.

    python benchmarks/explain_speed.py [MEGABYTES]

Prints MB/s by the clock, MB/s of processor time (on a busy machine the honest number), and the peak memory for three kinds of log: a training log (the usual case), one known message over and
over, and a log with colours in every line. The logs are made on the fly, nothing is written to disk.
"""

from __future__ import annotations

import io
import resource
import sys
import time

from tfdoctor.known_errors import Catalogue, explain

HEAD = b"""2024-05-01 12:00:00.123456: I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized to use available CPU instructions
2024-05-01 12:00:01.123456: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
2024-05-01 12:00:02.123456: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1928] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 3090, pci bus id: 0000:0e:00.0, compute capability: 8.6
"""
STEP = b"Epoch 3/90  1250/5004 [======>.......................] - ETA: 12:34 - 201ms/step - loss: 2.3456 - mean_absolute_error: 0.1234 - accuracy: 0.4321\n"
INFO = b"INFO:root:step 4711: learning rate 0.000123, gradient norm 1.2345, 1834 samples in shard 17 of 64, checkpoint in 189 steps\n"
KNOWN = b"2024-05-01 12:00:00.1: W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence\n"
COLOUR = b"\x1b[36mINFO\x1b[0m step \x1b[1m4711\x1b[0m: learning rate 0.000123, gradient norm 1.2345, 1834 samples in shard 17 of 64\n"
TAIL = b"2024-05-01 13:00:00.1: W tensorflow/core/framework/op_kernel.cc:1] OOM when allocating tensor with shape[64,256,56,56]\n"


class Endless(io.RawIOBase):
    """A head, a body repeated up to a size, and a tail, as a stream."""

    def __init__(self, body: bytes, size: int) -> None:
        self.body = body * max(1, (1 << 20) // len(body))
        self.left = size
        self.rest = HEAD

    def read(self, size: int = -1) -> bytes:
        if not self.rest and self.left > 0:
            self.rest, self.left = self.body, self.left - len(self.body)
            if self.left <= 0:
                self.rest += TAIL
        piece, self.rest = self.rest[:size], self.rest[size:]
        return piece


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    started = time.perf_counter()
    catalogue = Catalogue.load()
    print(f"tables and matcher: {time.perf_counter() - started:.3f} s")
    for name, body in (("training log", STEP + INFO * 3), ("one known message", KNOWN), ("colours", COLOUR)):
        for size in (megabytes // 10, megabytes):
            started, worked = time.perf_counter(), time.process_time()
            result = explain(Endless(body, size * 1_000_000), catalogue, given={})  # type: ignore[arg-type]
            seconds, worked = time.perf_counter() - started, time.process_time() - worked
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            assert "gpu-memory-batch-too-large" in [a.name for a in result.answers]
            print(
                f"{name}, {size} MB, {result.lines} lines: {size / seconds:.0f} MB/s ({size / worked:.0f} of processor time), peak {peak:.0f} MB"
            )


if __name__ == "__main__":
    main()
