"""Writers of safetensors and GGUF (F32), and a reader of safetensors."""

import json
import struct

import numpy as np


def write_safetensors(path, tensors):
    """`tensors` maps names to float32 arrays; they are stored in that order."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(np.ascontiguousarray(array, "<f4").tobytes())


def read_safetensors(path):
    """The F32 tensors of a file as float64 arrays by name."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<Q", data)[0]
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "F32":
            raise ValueError("%s: %s is %s, expected F32" % (path, name, entry["dtype"]))
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").astype(np.float64).reshape(entry["shape"])
    return tensors


def _string(text):
    data = text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


# Value types of GGUF: code, and how one value is packed.
_TYPES = {
    "u32": (4, lambda v: struct.pack("<I", v)),
    "i32": (5, lambda v: struct.pack("<i", v)),
    "f32": (6, lambda v: struct.pack("<f", v)),
    "bool": (7, lambda v: struct.pack("<?", v)),
    "string": (8, _string),
}


def write_gguf(path, metadata, tensors):
    """`metadata` is a list of (key, type, value), a list value for arrays; `tensors` maps names to float32 arrays."""
    alignment = 32
    out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)))
    for key, kind, value in metadata:
        code, pack = _TYPES[kind]
        out += _string(key)
        if isinstance(value, list):
            out += struct.pack("<IIQ", 9, code, len(value)) + b"".join(pack(v) for v in value)
        else:
            out += struct.pack("<I", code) + pack(value)
    offset = 0
    for name, array in tensors.items():
        dims = array.shape[::-1]  # the fastest first
        out += _string(name) + struct.pack("<I%dQ" % len(dims), len(dims), *dims) + struct.pack("<IQ", 0, offset)
        offset += array.nbytes + -array.nbytes % alignment
    out += b"\0" * (-len(out) % alignment)
    for array in tensors.values():
        data = np.ascontiguousarray(array, "<f4").tobytes()
        out += data + b"\0" * (-len(data) % alignment)
    with open(path, "wb") as file:
        file.write(out)
