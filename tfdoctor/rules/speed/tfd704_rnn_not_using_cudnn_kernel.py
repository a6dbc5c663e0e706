"""TFD704 rnn-not-using-cudnn-kernel."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules import _log


@rule("TFD704", Severity.WARNING)
def rnn_not_using_cudnn_kernel(log: LogMatch) -> Found:
    """A recurrent layer runs without cuDNN's kernel because of its arguments, several times slower.

    ## What it is
    LSTM and GRU have a fast path through cuDNN for one set of arguments only: activation tanh, recurrent_activation sigmoid,
    recurrent_dropout 0, unroll False, use_bias True (GRU: reset_after True), and masks padded on the right. Other arguments are right too,
    and slow. cuDNN itself is fine.

    ## How it shows
    - `WARNING:tensorflow:Layer lstm will not use cuDNN kernels since it doesn't meet the criteria. It will use a generic GPU kernel as fallback when
      running on GPU.`
    - Keras 3 with `use_cudnn=True` raises instead

    ## How to be sure
    The line names the layer; compare its arguments with the list above. When cuDNN could not be loaded, the log names
    `libcudnn` instead.

    ## What to do
    - Everywhere: use those arguments; put a Dropout layer between layers in place of recurrent_dropout; pad sequences on the right.
    - Keep the arguments if the model needs them, and ignore the line.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/keras/layers/LSTM
    - https://github.com/tensorflow/tensorflow/issues/46567
    """
    message = _("Layer {layer} cannot use cuDNN's fast kernel because of its arguments.").format(
        layer=_log.value(log, "layer", _("(recurrent)"))
    )
    fix = remedies.by_hand(
        _("Use activation tanh, recurrent_activation sigmoid, recurrent_dropout 0, unroll False and right padding")
    )
    return Diagnosis(message, (_log.line(log),), (fix,))
