"""Condenses what the inference pipeline says: usage summarize_plan.py REMARKS PLAN.json"""
import collections
import json
import re
import sys


def human(size):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024


def main():
    chosen = collections.Counter()
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            if match := re.search(r"remark: provider (\w+)", line):
                provider = match[1]
            elif match := re.match(r" +%.* = (ck\.\w+)", line):
                chosen[match[1], provider] += 1
    for (op, provider), count in chosen.items():
        print(f"  {op:18} -> {provider:34} {count:4} times")

    with open(sys.argv[2], encoding="utf-8") as file:
        plan = json.load(file)
    print("\n== The memory plan")
    print(f"  states (KV caches)   {human(plan['state_bytes'])}")
    print(f"  constants            {human(plan['const_bytes'])}")
    for entry in plan["entries"]:
        bounds = ", ".join(f"{name} <= {bound}" for name, bound in entry["bounds"].items())
        name = "@" + entry["name"] + (f" ({bounds})" if bounds else "")
        print(f"  {name:20} {human(entry['arena_bytes'])} of activations in {entry['calls']} calls; "
              f"lower bound {human(entry['bound'])}, without reuse in place {human(entry['bound_before_in_place'])}")


if __name__ == "__main__":
    main()
