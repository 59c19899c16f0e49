"""Malformed authorization headers, signatures of other requests, and wrong dates."""

import base64
import email.utils
import json
import time
from urllib.parse import quote

import pytest
from lib.signature import KEY, signature
from lib.texts import SIGNATURE

from badinput_nosql.wire import authorization, http_date, request

PATH = "/dbs/data/colls/c/docs"
ITEM = {"id": "forged", "pk": "a"}
PK = {"x-ms-documentdb-partitionkey": '["a"]'}
OTHER = base64.b64encode(b"another key of no account here..").decode()
RIGHT = "right signature"


def sig(date, key=KEY, verb="post", kind="docs", link="dbs/data/colls/c"):
    return signature(verb, kind, link, date, key)


def token(text):
    return quote(text, safe="")


def entra(
    key=KEY,
    kid="CosmosEmulatorPrimaryMaster",
    aud="https://localhost.localhost",
    ends=3600,
    parts=3,
):
    def part(value):
        return base64.urlsafe_b64encode(
            value if isinstance(value, bytes) else json.dumps(value).encode()
        ).decode()

    now = int(time.time())
    claims = {
        "aud": aud,
        "iss": "https://sts.fake-issuer.net/x",
        "iat": now - 10,
        "nbf": now - 10,
        "exp": now + ends,
    }
    found = [part({"typ": "JWT", "alg": "RS256", "kid": kid}), part(claims), part(key.encode())]
    return token("type=aad&ver=1.0&sig=" + ".".join(found[:parts]))


#: Functions that make a header from a correct signature; each must get 401.
WRONG = {
    "empty": lambda s: "",
    "blank": lambda s: "   ",
    "type alone": lambda s: token("type=master"),
    "no signature": lambda s: token("type=master&ver=1.0"),
    "empty signature": lambda s: token("type=master&ver=1.0&sig="),
    "signature alone": lambda s: token(f"sig={s}"),
    "no type": lambda s: token(f"ver=1.0&sig={s}"),
    "empty type": lambda s: token(f"type=&ver=1.0&sig={s}"),
    "unknown type": lambda s: token(f"type=admin&ver=1.0&sig={s}"),
    "two types": lambda s: token(f"type=master&type=resource&ver=1.0&sig={s}"),
    "version 2": lambda s: token(f"type=master&ver=2.0&sig={s}"),
    "version of text": lambda s: token(f"type=master&ver=x&sig={s}"),
    "empty version": lambda s: token(f"type=master&ver=&sig={s}"),
    "unknown part": lambda s: token(f"type=master&ver=1.0&x=y&sig={s}"),
    "signature first": lambda s: token(f"sig={s}&type=master&ver=1.0"),
    "something behind": lambda s: token(f"type=master&ver=1.0&sig={s}&x=y"),
    "blanks between": lambda s: token(f"type=master & ver=1.0 & sig={s}"),
    "encoded twice": lambda s: token(token(f"type=master&ver=1.0&sig={s}")),
    "broken encoding": lambda s: f"type%3Dmaster%26ver%3D1.0%26sig%3D%ZZ{s}",
    "half an encoding": lambda s: f"type%3Dmaster%26ver%3D1.0%26sig%3D{token(s)}%",
    "invalid UTF-8": lambda s: b"type%3Dmaster%26ver%3D1.0%26sig%3D%FF%FE",
    "raw bytes": lambda s: b"type=master&ver=1.0&sig=\xff\xfe",
    "NUL in it": lambda s: "type%3Dmaster%26ver%3D1.0%26sig%3D%00" + token(s),
    "Basic": lambda s: "Basic " + base64.b64encode(b"user:password").decode(),
    "Bearer": lambda s: f"Bearer {s}",
    "SharedKey": lambda s: f"SharedKey account:{s}",
    "the bare signature": lambda s: s,
    "JSON": lambda s: '{"type":"master"}',
    "words": lambda s: "let me in",
    "no base64": lambda s: token("type=master&ver=1.0&sig=%%%%"),
    "base64 for URLs": lambda s: token("type=master&ver=1.0&sig=" + "-_" * 21 + "A="),
    "no padding": lambda s: token("type=master&ver=1.0&sig=" + s.rstrip("=")),
    "blank in the signature": lambda s: token(f"type=master&ver=1.0&sig={s[:10]} {s[10:]}"),
    "31 bytes": lambda s: token("type=master&ver=1.0&sig=" + base64.b64encode(b"x" * 31).decode()),
    "33 bytes": lambda s: token("type=master&ver=1.0&sig=" + base64.b64encode(b"x" * 33).decode()),
    "twice": lambda s: token(f"type=master&ver=1.0&sig={s}{s}"),
    "16 KB": lambda s: token("type=master&ver=1.0&sig=" + "A" * 16_384),
    "60 KB": lambda s: "type%3Dmaster%26ver%3D1.0%26sig%3D" + "A" * 60_000,
    "many parts": lambda s: token("&".join(["ver=1.0"] * 5000) + f"&type=master&sig={s}")[:50_000],
    "as resource": lambda s: token(f"type=resource&ver=1.0&sig={s}"),
    "resource without content": lambda s: token("type=resource&ver=1.0&sig="),
    "resource of zeros": lambda s: token("type=resource&ver=1.0&sig=" + "A" * 400),
    "resource of 31 bytes": lambda s: token(
        "type=resource&ver=1.0&sig=" + base64.b64encode(b"x" * 31).decode()
    ),
    "as Entra": lambda s: token(f"type=aad&ver=1.0&sig={s}"),
    "Entra of dots": lambda s: token("type=aad&ver=1.0&sig=.."),
    "Entra of many dots": lambda s: token("type=aad&ver=1.0&sig=" + "." * 5000),
    "Entra of two parts": lambda s: entra(parts=2),
    "Entra of no JSON": lambda s: token("type=aad&ver=1.0&sig=eHg.eHg.eHg"),
    "Entra of another key": lambda s: entra(OTHER),
    "Entra of no key": lambda s: entra(""),
    "Entra of another key id": lambda s: entra(kid="x"),
    "Entra for others": lambda s: entra(aud="https://x"),
    "Entra of deep JSON": lambda s: token(
        "type=aad&ver=1.0&sig=" + ".".join([base64.urlsafe_b64encode(b"[" * 5000).decode()] * 3)
    ),
    "the key itself": lambda s: token(f"type=master&ver=1.0&sig={KEY}"),
}


@pytest.mark.parametrize("form", WRONG)
def test_headers_of_every_wrong_form(attacked, form):
    date = http_date()
    headers = {"authorization": WRONG[form](sig(date)), **PK}
    attacked.refused(
        request("POST", PATH, ITEM, headers, date=date), (400, 401) if form == "raw bytes" else 401
    )


def test_no_header(attacked):
    attacked.refused(request("POST", PATH, ITEM, {"authorization": None, **PK}), 401)


SIGNED = {
    "another key": {"key": OTHER},
    "another verb": {"verb": "get"},
    "another kind": {"kind": "colls"},
    "another link": {"link": "dbs/data/colls/off"},
    "the item's link": {"link": "dbs/data/colls/c/docs/forged"},
    "a longer link": {"link": "dbs/data/colls/c/"},
    "a slash in front": {"link": "/dbs/data/colls/c"},
    "another case": {"link": "DBS/ROOM/COLLS/C"},
    "no link": {"link": ""},
    "no kind": {"kind": ""},
}


@pytest.mark.parametrize("what", SIGNED)
def test_signatures_of_something_else(attacked, what):
    date = http_date()
    header = token(f"type=master&ver=1.0&sig={sig(date, **SIGNED[what])}")
    attacked.refused(
        request("POST", PATH, ITEM, {"authorization": header, **PK}, date=date), 401, text=SIGNATURE
    )


def test_a_signature_of_another_date(attacked):
    header = token(f"type=master&ver=1.0&sig={sig(http_date(-60))}")
    attacked.refused(
        request("POST", PATH, ITEM, {"authorization": header, **PK}), 401, text=SIGNATURE
    )


def test_a_signature_is_for_one_method(attacked):
    date = http_date()
    header = authorization("GET", f"{PATH}/1", date)
    for verb in ("DELETE", "PUT", "PATCH", "POST"):
        body = None if verb == "DELETE" else ITEM
        data = request(verb, f"{PATH}/1", body, {"authorization": header, **PK}, date=date)
        attacked.refused(data, 401, text=SIGNATURE)


@pytest.mark.parametrize("at", range(32))
def test_every_byte_of_a_signature_counts(attacked, at):
    date = http_date()
    found = bytearray(base64.b64decode(sig(date)))
    found[at] ^= 1
    header = token("type=master&ver=1.0&sig=" + base64.b64encode(found).decode())
    attacked.refused(
        request("POST", PATH, ITEM, {"authorization": header, **PK}, date=date), 401, text=SIGNATURE
    )


def test_signatures_that_are_cut(attacked):
    date = http_date()
    found = sig(date)
    for length in range(len(found)):
        header = token(f"type=master&ver=1.0&sig={found[:length]}")
        attacked.refused(
            request("POST", PATH, ITEM, {"authorization": header, **PK}, date=date), 401
        )


@pytest.mark.parametrize("form", ["plain", "lower-case escapes", "parts encoded", "blanks around"])
def test_right_headers_of_other_forms(attacked, form):
    date = http_date()
    text = f"type=master&ver=1.0&sig={signature('GET', 'dbs', '', date)}"
    header = {
        "plain": text,
        "lower-case escapes": token(text).replace("%3D", "%3d").replace("%26", "%26"),
        "parts encoded": text.replace("=", "%3D"),
        "blanks around": f"  {token(text)}  ",
    }[form]
    attacked.accepted(request("GET", "/dbs", None, {"authorization": header}, date=date), 200)


def test_an_entra_token_of_the_account(attacked):
    attacked.accepted(request("GET", "/dbs", None, {"authorization": entra()}), 200)


@pytest.mark.parametrize("minutes", [16, -16, 60, -60, 60 * 24 * 365, -60 * 24 * 365, 15.5, -15.5])
def test_dates_too_far_away(attacked, minutes):
    """The signature is correct, but its time is too far away: a new token is needed."""
    date = http_date(60 * minutes)
    attacked.refused(request("POST", PATH, ITEM, PK, date=date), (401, 403))


@pytest.mark.parametrize("minutes", [14, -14, 1, -1])
def test_dates_near_enough(attacked, minutes):
    attacked.accepted(request("GET", "/dbs", date=http_date(60 * minutes)), 200)


DATES = [
    "",
    " ",
    "x",
    "now",
    "0",
    "-1",
    "1700000000",
    "2026-11-21T10:00:00Z",
    "Sat, 32 Nov 2026 10:00:00 GMT",
    "Sat, 21 Xxx 2026 10:00:00 GMT",
    "Sat, 21 Nov 2026 25:00:00 GMT",
    "Sat, 21 Nov 2026 10:61:00 GMT",
    "Sat, 21 Nov 99999 10:00:00 GMT",
    "Sat, 21 Nov -2026 10:00:00 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sat, 21 Nov",
    "GMT",
    "Sat, 21 Nov 2026 10:00:00 +9999",
    "x" * 10_000,
    "99999999999999999999999",
    "Sat, 21 Nov 2026 10:00:00 GMT" * 3,
    "NaN",
]


@pytest.mark.parametrize("date", DATES, ids=lambda it: it[:30] or "empty")
def test_dates_that_are_none(attacked, date):
    attacked.refused(request("POST", PATH, ITEM, PK, date=date), (401, 403))


def test_no_date(attacked):
    header = token(f"type=master&ver=1.0&sig={sig('')}")
    attacked.refused(
        request("POST", PATH, ITEM, {"authorization": header, "x-ms-date": None, **PK}), 401
    )


def test_a_date_that_is_not_signed(attacked):
    header = token(f"type=master&ver=1.0&sig={sig('')}")
    attacked.refused(
        request("POST", PATH, ITEM, {"authorization": header, **PK}), 401, text=SIGNATURE
    )


def test_an_unsigned_date_does_not_make_an_old_one_new(attacked):
    """`date` is now, but the signed `x-ms-date` is an hour old."""
    old = http_date(-3600)
    attacked.refused(request("POST", PATH, ITEM, {"date": http_date(), **PK}, date=old), (401, 403))
    date = email.utils.formatdate(time.time() - 3600, usegmt=True)
    header = token(f"type=master&ver=1.0&sig={sig(date)}")
    data = request(
        "POST", PATH, ITEM, {"authorization": header, "date": date, "x-ms-date": http_date(), **PK}
    )
    attacked.refused(data, (401, 403))


@pytest.mark.parametrize("order", ["wrong first", "wrong last"])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("authorization", "type%3Dmaster%26ver%3D1.0%26sig%3DAAAA"),
        ("x-ms-date", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ],
)
def test_two_different_credentials(attacked, name, wrong, order):
    """Requests with two different credentials are refused, not guessed about."""
    data = request("POST", PATH, ITEM, PK)
    line = f"{name}: {wrong}\r\n".encode()
    at = data.index(name.encode() + b": ")
    end = data.index(b"\r\n", at) + 2
    at = at if order == "wrong first" else end
    attacked.refused(data[:at] + line + data[at:], (400, 401, 403))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/dbs/nothing", 401),
        ("/dbs/data", 401),
        ("/dbs/data/colls/c/docs/1", 401),
        ("/dbs/data/colls/c", 401),
        ("/dbs/data/colls/nothing", 401),
        ("/", 401),
        ("/offers", 401),
        ("/dbs/data/users", 401),
        ("/dbs/data/colls/c/pkranges", 401),
        ("/dbs/data/colls/c/sprocs/x", 401),
    ],
)
def test_strangers_learn_nothing(attacked, path, status):
    """Existing and missing resources are refused alike."""
    known = attacked.refused(request("GET", path, None, {"authorization": None, **PK}), status)
    signed = attacked.refused(request("GET", path, None, PK, key=OTHER), status, text=SIGNATURE)
    assert b"data" not in known.body.replace(b"/dbs/data", b"")
    assert signed.status == status


@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_strangers_do_not_send_bodies_for_nothing(attacked, size):
    body = {"id": "x" * size, "pk": "a"}
    attacked.refused(request("POST", PATH, body, PK, key=OTHER), 401, text=SIGNATURE)
