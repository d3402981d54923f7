"""Takes a GGUF file apart and puts it together again with another alignment, more metadata, or other tensors."""
import struct

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY = 8, 9


class Gguf:
    """`metadata` maps keys to (type, bytes of the value); `tensors` maps names to (dims, type, bytes), padding included."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 8
        tensor_count, key_count = self.take("<QQ")
        self.metadata, infos = {}, []
        for _ in range(key_count):
            key = self.string()
            kind = self.take("<I")[0]
            begin = self.at
            self.skip(kind)
            self.metadata[key] = (kind, self.data[begin:self.at])
        for _ in range(tensor_count):
            name = self.string()
            dims = self.take("<%dQ" % self.take("<I")[0])
            kind, offset = self.take("<IQ")
            infos.append((name, dims, kind, offset))
        alignment = struct.unpack("<I", self.metadata.get("general.alignment", (4, b"\x20\0\0\0"))[1])[0]
        start = self.at + -self.at % alignment
        ends = sorted(info[3] for info in infos) + [len(self.data) - start]
        self.tensors = {}
        for name, dims, kind, offset in infos:
            end = min(end for end in ends if end > offset)
            self.tensors[name] = (dims, kind, self.data[start + offset:start + end])

    def take(self, layout):
        values = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return values

    def string(self):
        length = self.take("<Q")[0]
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def skip(self, kind):
        if kind == STRING:
            self.string()
        elif kind == ARRAY:
            element, count = self.take("<IQ")
            for _ in range(count):
                self.skip(element)
        else:
            self.at += SIZES[kind]

    def write(self, path, alignment=32, padding=None):
        """`padding` characters go into a key of their own, so that the tensors start elsewhere."""
        def text(value):
            return struct.pack("<Q", len(value.encode())) + value.encode()
        metadata = dict(self.metadata)
        metadata["general.alignment"] = (4, struct.pack("<I", alignment))
        if padding is not None:
            metadata["test.padding"] = (STRING, text("x" * padding))
        out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(metadata)))
        for key, (kind, value) in metadata.items():
            out += text(key) + struct.pack("<I", kind) + value
        offset, places = 0, []
        for name, (dims, kind, data) in self.tensors.items():
            out += text(name) + struct.pack("<I%dQIQ" % len(dims), len(dims), *dims, kind, offset)
            places.append(offset)
            offset += len(data) + -len(data) % alignment
        out += b"\0" * (-len(out) % alignment)
        for _, _, data in self.tensors.values():
            out += data + b"\0" * (-len(data) % alignment)
        with open(path, "wb") as file:
            file.write(out)
        return places
