"""A SentencePiece-style BPE vocabulary with byte fallback, learnt from one small text.

Ids: <unk>, <s>, </s>, the 256 bytes, the merged pieces in order of learning, then the single characters of the text.
A piece of higher score (learnt earlier) is merged first, the leftmost of equals.
"""

import re

SPACE = "\u2581"
UNKNOWN, BEGIN, END = 0, 1, 2
NORMAL, UNKNOWN_TYPE, CONTROL, BYTE = 1, 2, 3, 6  # token types of GGUF


class Tokenizer:
    def __init__(self, pieces, scores, types):
        self.pieces, self.scores, self.types = pieces, scores, types
        self.ids = {piece: i for i, piece in enumerate(pieces)}

    def encode(self, text):
        """Ids of `text`, with <s> in front."""
        symbols = list(SPACE + text.replace(" ", SPACE)) if text else []
        while True:
            best, where = None, None
            for i in range(len(symbols) - 1):
                piece = self.ids.get(symbols[i] + symbols[i + 1])
                if piece is not None and (best is None or self.scores[piece] > best):
                    best, where = self.scores[piece], i
            if where is None:
                break
            symbols[where : where + 2] = [symbols[where] + symbols[where + 1]]
        ids = [BEGIN]
        for symbol in symbols:
            if symbol in self.ids:
                ids.append(self.ids[symbol])
            else:
                ids += [self.ids["<0x%02X>" % byte] for byte in symbol.encode("utf-8")]
        return ids

    def decode(self, ids):
        """The text of `ids` as a continuation: no leading space is taken away."""
        data = bytearray()
        for i in ids:
            if self.types[i] == BYTE:
                data.append(int(self.pieces[i][3:5], 16))
            elif self.types[i] == NORMAL:
                data += self.pieces[i].replace(SPACE, " ").encode("utf-8")
        return data.decode("utf-8", errors="replace")

    def merges(self):
        """Every way to build each merged piece from two others, in order of preference."""
        pairs = []
        for piece, kind in zip(self.pieces, self.types):
            for cut in range(1, len(piece)) if kind == NORMAL else ():
                if piece[:cut] in self.ids and piece[cut:] in self.ids:
                    pairs.append(piece[:cut] + " " + piece[cut:])
        return pairs


def learn(text, size):
    """A vocabulary of `size` pieces: merges the most frequent pair (of equals the first in the alphabet) until full.
    No piece holds letters and punctuation, so that a text cut before a comma starts with the same ids."""
    characters = sorted(set(SPACE + text.replace(" ", SPACE)) - {"\n"})
    merged = []
    words = [list(word) for word in re.findall(SPACE + "?[A-Za-z]+", SPACE + text.replace(" ", SPACE))]
    while 259 + len(merged) + len(characters) < size:
        counts = {}
        for word in words:
            for pair in zip(word, word[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        left, right = min(counts, key=lambda pair: (-counts[pair], pair))
        merged.append(left + right)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if word[i] == left and word[i + 1] == right:
                    word[i : i + 2] = [left + right]
                i += 1
    pieces = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % byte for byte in range(256)] + merged + characters
    learnt = range(len(merged) + len(characters))
    scores = [0.0] * 259 + [-float(rank) for rank in learnt]
    types = [UNKNOWN_TYPE, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL for _ in learnt]
    return Tokenizer(pieces, scores, types)


def to_hugging_face(tokenizer):
    """The content of tokenizer.json."""
    special = [(UNKNOWN, "<unk>"), (BEGIN, "<s>"), (END, "</s>")]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    begin = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": content, **flags} for i, content in special],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": SPACE},
                {"type": "Replace", "pattern": {"String": " "}, "content": SPACE},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [
                begin,
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "<s>", "type_id": 1}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [BEGIN], "tokens": ["<s>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": tokenizer.ids,
            "merges": tokenizer.merges(),
        },
    }
