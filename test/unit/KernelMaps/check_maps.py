"""Checks kernel maps with python3-jsonschema, an implementation of JSON Schema that shares no code with ours.

usage: check_maps.py SCHEMA CASES GOOD_MAP FOLDER...

Every map in every folder must be valid. Every case (an edit of GOOD_MAP that our own validator refuses) must be refused
here too. Exits with 77 (skipped) when the module is not installed.
"""

import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def apply(document, case):
    """The document with one value put or dropped at a JSON pointer."""
    pointer, value = next(iter(case["put"].items())) if "put" in case else (case["drop"], None)
    if pointer == "":
        return value
    document = copy.deepcopy(document)
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]
    target = document
    for part in path:
        target = target[int(part)] if isinstance(target, list) else target[part]
    if "drop" in case:
        del target[last]
    elif isinstance(target, list):
        target[int(last)] = value
    else:
        target[last] = value
    return document


def main(schema_path, cases_path, good_path, *folders):
    schema = json.loads(pathlib.Path(schema_path).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = 0
    maps = [p for f in folders for p in sorted(pathlib.Path(f).rglob("*.json")) if p.name != "schema.json"]
    for path in maps:
        for error in validator.iter_errors(json.loads(path.read_text())):
            failures += 1
            print(f"{path}: {error.json_path}: {error.message}")
    good = json.loads(pathlib.Path(good_path).read_text())
    cases = json.loads(pathlib.Path(cases_path).read_text())
    for case in cases:
        if validator.is_valid(apply(good, case)):
            failures += 1
            print(f"accepted, but ours says: {case['error']}")
    print(f"{len(maps)} maps, {len(cases)} refusals, {failures} failures")
    return 1 if failures or not maps or not cases else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
