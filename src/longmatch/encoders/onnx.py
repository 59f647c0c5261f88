"""A network from an ONNX file, as sentence-transformers repositories carry it, with the pooling added."""

from pathlib import Path
from typing import Any

import numpy as np

from longmatch.encoders.openvino import load_openvino, operations, shared_core
from longmatch.encoders.pooling import unit_vectors
from longmatch.errors import LongmatchError

OUTPUTS = ("last_hidden_state", "token_embeddings")  # by the names that exporters give them


def read_onnx(path: Path, pooling: str) -> Any:
    """The OpenVINO model of an ONNX file with inputs `ids` and `mask` and one unit vector per piece."""
    try:
        model = shared_core().read_model(path)
    except RuntimeError as error:
        raise LongmatchError(f"{path} cannot be read as ONNX. Download it again, or name another model.") from error
    inputs = {name: port for port in model.inputs for name in port.names}
    missing = {"input_ids", "attention_mask"} - set(inputs)
    outputs = [port for port in model.outputs if set(OUTPUTS) & set(port.names)]
    if missing or not outputs:
        raise LongmatchError(f"{path} is not an encoder's export: it takes {', '.join(inputs)}.")
    ids, mask = inputs["input_ids"].get_node(), inputs["attention_mask"].get_node()
    if "token_type_ids" in inputs:  # all text is of the first type
        op = operations()
        zeros = op.broadcast(op.constant(np.int64(0)), op.shape_of(ids))
        inputs["token_type_ids"].get_node().output(0).replace(zeros.output(0))
    hidden = outputs[0].get_node().input_value(0)
    return load_openvino().Model([unit_vectors(hidden, mask, pooling)], [ids, mask], path.stem)
