"""Values at the edges of every BSON type, by name."""

from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS

INFINITY = float("inf")

NUMBERS = {
    "int 0": 0, "int 1": 1, "int -1": -1, "int 2": 2, "int 5": 5,
    "int max": 2**31 - 1, "int min": -(2**31),
    "long 1": Int64(1), "long 3": Int64(3), "long 2^31": Int64(2**31), "long 2^53+1": Int64(2**53 + 1),
    "long max": Int64(2**63 - 1), "long min": Int64(-(2**63)),
    "double 0": 0.0, "double -0": -0.0, "double 1": 1.0, "double 1.5": 1.5, "double -2.5": -2.5,
    "double 2^31": 2.0**31, "double 2^53": 2.0**53, "double 2^63": 2.0**63, "double 1e300": 1e300,
    "double tiny": 5e-324, "double nan": float("nan"), "double inf": INFINITY,
    "double -inf": -INFINITY, "double 0.1": 0.1,
    "decimal 0": Decimal128("0"), "decimal -0": Decimal128("-0"), "decimal 1": Decimal128("1"),
    "decimal 1.50": Decimal128("1.50"), "decimal 0.1": Decimal128("0.1"),
    "decimal -2.5": Decimal128("-2.5"), "decimal 1e6": Decimal128("1E+6"),
    "decimal huge": Decimal128("9.99E+6144"), "decimal tiny": Decimal128("1E-6176"),
    "decimal nan": Decimal128("NaN"), "decimal inf": Decimal128("Infinity"),
    "decimal -inf": Decimal128("-Infinity"),
    "decimal 34": Decimal128("1234567890123456789012345678901234"),
}

DATES = {
    "date 0": DatetimeMS(0), "date -1": DatetimeMS(-1), "date 2020": DatetimeMS(1583020799999),
    "date year 0": DatetimeMS(-62135596800001), "date 9999": DatetimeMS(253402300799999),
    "date 1901": DatetimeMS(-2177452801000), "date max": DatetimeMS(2**63 - 1),
    "date min": DatetimeMS(-(2**63)), "timestamp": Timestamp(1583020800, 7),
    "timestamp 0,1": Timestamp(0, 1),
    "oid": ObjectId("5e5b9d7f0123456789abcdef"), "oid ff": ObjectId("ffffffff0000000000000000"),
}

STRINGS = {
    "string empty": "", "string a": "a", "string A": "A", "string abc": "abc", "string é": "é",
    "string cjk": "日本語", "string wide": "x𝄞y", "string sharp s": "ßİ", "string 12": "12",
    "string -3.5": "-3.5", "string 1e3": "1e3", "string space 1": " 1 ", "string hex": "0x1F",
    "string true": "true", "string nan": "NaN", "string date": "2020-02-29T23:59:59.999Z",
    "string oid": "5e5b9d7f0123456789abcdef", "string padded": " \t a b \n", "string comma": "a,b,,c",
    "string nul": "a\0b", "string dollar": "$x", "string big": "9223372036854775808",
}

CONTAINERS = {
    "object {}": {}, "object a": {"a": 1}, "object b null": {"b": None}, "object deep": {"b": {"c": 1}},
    "object order": {"b": 2, "a": 1}, "object kv": {"k": "x", "v": 1},
    "array []": [], "array 1": [1], "array 123": [1, 2, 3], "array mixed": [3, "a", None, 1.0],
    "array nested": [[1, 2], [3]], "array null": [None], "array [[]]": [[]],
    "array objects": [{"a": 1}, {"a": 2}, {"b": 1}], "array kv": [{"k": "x", "v": 1}, {"k": "y", "v": 2}],
    "array pairs": [["x", 1], ["y", 2]], "array strings": ["a", "b", ""], "array bools": [True, False],
    "array nan": [float("nan"), 1], "array deep": [{"b": [{"c": 1}, {"c": [2]}]}],
}

OTHERS = {
    "null": None, "true": True, "false": False,
    "bin empty": Binary(b"", 0), "bin 0": Binary(b"\x01\xff", 0), "bin 4": Binary(bytes(range(16)), 4),
    "bin 128": Binary(b"ab", 128),
    "regex": Regex("^a", "i"), "regex x": Regex("b", ""), "code": Code("f"), "code scope": Code("f", {"a": 1}),
    "minkey": MinKey(), "maxkey": MaxKey(),
}

ALL = {**NUMBERS, **DATES, **STRINGS, **CONTAINERS, **OTHERS}

SOME_NAMES = [
    "int 0", "int 2", "int -1", "int max", "int min", "long 3", "long max", "long min", "double 0",
    "double -0", "double 1.5", "double -2.5", "double 2^63", "double 1e300", "double nan", "double inf", "decimal 1.50",
    "decimal -0", "decimal nan", "decimal huge", "null", "true", "date 0", "date 2020", "string empty",
    "string a", "string abc", "string wide", "array []", "array 123", "array strings", "array nested",
    "object {}", "object a", "oid", "timestamp", "regex x", "bin 0", "maxkey",
]
SOME = {name: ALL[name] for name in SOME_NAMES}
