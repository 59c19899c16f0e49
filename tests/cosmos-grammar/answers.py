#!/usr/bin/env python3
"""Makes the recorded results from the plans of the service's library.

answers.py PLANS... writes a line for each query: see crates/cosmos-sql/tests/all/service.rs.
"""

import json
import sys

# Texts that the .NET SDK writes before and after the errors of the library.
BEFORE, BEHIND = "ERROR TryCatch resulted in an exception. | ", " | Error "


def mistakes(text):
    """Returns the errors of a query, or None if the library failed otherwise."""
    if not text.startswith(BEFORE) or BEHIND not in text:
        return None
    try:
        told = json.loads(text[len(BEFORE) : text.rindex(BEHIND)])
    except ValueError:
        return None
    return of_errors(told)


def of_errors(told):
    """Returns the messages of a list of errors."""
    if "Errors" in told:
        return told["Errors"]
    shown = []
    for error in told["errors"]:
        place = error.get("location")
        place = f" {place['start']}-{place['end']}" if place else ""
        shown.append(f"{error['code']}{place} {error['message']}")
    return shown


def said(plan):
    """Returns the fields of a plan except the ones that all plans share."""
    info = plan["queryInfo"]
    if info is None:
        return None
    ranges = plan["queryRanges"]
    if len(ranges) == 1 and ranges[0]["min"] == ranges[0]["max"] == []:
        return {"nothing": True}
    empty = (None, False, "", "None", [], {})
    # 0 is not an empty value, but equal to False.
    return {
        name: value
        for name, value in info.items()
        if value is not None and not any(value is e or (value == e and value != 0) for e in empty)
    }


def recorded(line):
    """Returns the recorded form of a line of the library's results, or None."""
    entry = json.loads(line)
    query, answer = entry["query"], entry["native"]
    if isinstance(answer, str):
        answers = mistakes(answer)
    elif "error" in answer:
        answers = of_errors(answer["error"])
    else:
        plan = said(answer)
        answers = None if plan is None else [plan]
    if answers is None:
        return None
    parameters = {p["name"]: p["value"] for p in query.get("parameters") or [] if "value" in p}
    parts = [query["query"], *answers] + ([parameters] if parameters else [])
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def main():
    """Writes each query once."""
    seen = set()
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                text = recorded(line)
                if text and text not in seen:
                    seen.add(text)
                    print(text)


if __name__ == "__main__":
    main()
