"""Reading checkpoints and running trainings, for the tests of training."""
import json
import struct

import numpy

from support import good


def read_safetensors(path):
    """(metadata, arrays by name) of a safetensors file; F32, F64 and I32."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        body = file.read()
    metadata = header.pop("__metadata__", {})
    kinds = {"F32": "<f4", "F64": "<f8", "I32": "<i4"}
    return metadata, {name: numpy.frombuffer(body[slice(*info["data_offsets"])], kinds[info["dtype"]])
                      .reshape(info["shape"]) for name, info in header.items()}


def train(out, *arguments, **options):
    """Runs a training; returns its steps as objects."""
    text = good("ck-run", "train", "--out", out, "--json", *arguments, **options)
    return [json.loads(line) for line in text.splitlines()]
