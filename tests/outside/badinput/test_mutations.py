"""Valid messages truncated at every byte and changed at every byte: a reply or a closed connection
within a second."""

import os
import random

import pytest
from lib.wire import Silence

from badinput.attacked import well_formed_error
from badinput.wire import command, msg, sequence

SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
ROUNDS = 40 if os.environ.get("TORTURE") == "1" else 2

MESSAGES = {
    "insert": msg(
        command(("insert", "m"), ("ordered", True)),
        sequence("documents", [{"_id": "a", "n": 1, "d": {"x": [1.5, None, True]}, "s": "text"}]),
    ),
    "find": msg(
        command(
            ("find", "m"),
            filter={"n": {"$gt": 1, "$in": [1, 2]}, "s": {"$regex": "a+", "$options": "i"}},
            sort={"n": -1},
            projection={"s": 1},
            limit=5,
            batchSize=2,
        )
    ),
    "aggregate": msg(
        command(
            ("aggregate", "m"),
            pipeline=[
                {"$match": {"n": {"$gte": 0}}},
                {"$group": {"_id": "$n", "c": {"$sum": {"$add": ["$n", 1]}}}},
                {"$sort": {"c": 1}},
                {"$limit": 3},
            ],
            cursor={"batchSize": 1},
        )
    ),
    "update": msg(
        command(
            ("update", "m"),
            updates=[
                {"q": {"_id": "a"}, "u": {"$set": {"d.x": 2}, "$inc": {"n": 1}}, "upsert": True}
            ],
        )
    ),
    "createIndexes": msg(
        command(
            ("createIndexes", "m"),
            indexes=[{"key": {"n": 1}, "name": "n", "expireAfterSeconds": 10, "sparse": True}],
        )
    ),
}


@pytest.fixture(autouse=True)
def seed():
    print(f"SEED={SEED}")


@pytest.mark.parametrize("name", MESSAGES)
def test_every_length(attacked, name):
    """A message truncated under its original header stays incomplete: no reply, no effect. With a
    corrected header it is refused."""
    message = MESSAGES[name]
    for end in range(len(message)):
        with attacked.wire() as wire:
            wire.send(message[:end])
        if end >= 16:
            with attacked.wire() as wire:
                wire.send(len(message[:end]).to_bytes(4, "little") + message[4:end])
                reply = wire.reply()
                assert reply is None or well_formed_error(reply), f"{name} cut at {end}: {reply}"


def tried(attacked, wire, data, what):
    """Sends a changed message followed by a ping; returns a connection that can be used further."""
    ping = msg([("ping", 1), ("$db", "test")], request=4242)
    wire.send(data)
    claimed = int.from_bytes(data[:4], "little", signed=True)
    if claimed > len(data):
        # The ping would be read as part of this message.
        wire.close()
        return attacked.wire()
    wire.send(ping)
    try:
        while (got := wire.frame()) is not None:
            if got[1] == 4242:
                return wire
    except Silence as silence:
        raise AssertionError(f"{what}: {silence}") from None
    wire.close()
    return attacked.wire()


@pytest.mark.parametrize("name", MESSAGES)
def test_every_byte(attacked, name):
    """Each byte is set to 0, 0xff, adjacent values and some random ones."""
    rng = random.Random(f"{SEED} {name}")
    message = MESSAGES[name]
    wire = attacked.wire()
    for at in range(len(message)):
        old = message[at]
        values = {0, 0xFF, 0x7F, (old + 1) % 256, (old - 1) % 256, old ^ 0x80} - {old}
        values |= {rng.randrange(256) for _ in range(ROUNDS)}
        for value in values:
            data = message[:at] + bytes([value]) + message[at + 1 :]
            wire = tried(attacked, wire, data, f"seed {SEED}: {name}, byte {at} is {value}")
    wire.close()


@pytest.mark.parametrize("name", MESSAGES)
def test_chance(attacked, name):
    """Several bytes change at once; parts are moved, doubled and cut, with a correct length."""
    rng = random.Random(f"{SEED} {name} chance")
    message = MESSAGES[name]
    wire = attacked.wire()
    for number in range(100 * ROUNDS):
        data = bytearray(message[16:])
        for _ in range(rng.randint(1, 5)):
            at, size = rng.randrange(len(data)), rng.randint(1, 12)
            kind = rng.randrange(5)
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                del data[at : at + size]
            elif kind == 2:
                data[at:at] = data[at : at + size]
            elif kind == 3:
                data[at:at] = rng.randbytes(size)
            else:
                data[at : at + 4] = rng.choice([0, -1, 2**31 - 1, 5]).to_bytes(
                    4, "little", signed=True
                )
            data = data or bytearray(b"\0")
        whole = (len(data) + 16).to_bytes(4, "little") + message[4:16] + bytes(data)
        wire = tried(attacked, wire, whole, f"seed {SEED}: {name}, change {number}")
    wire.close()


def test_noise(attacked):
    """Random bytes, with and without a valid header."""
    rng = random.Random(SEED)
    for number in range(100 * ROUNDS):
        data = rng.randbytes(rng.randint(1, 200))
        if number % 2:
            data = (
                (len(data) + 16).to_bytes(4, "little")
                + rng.randbytes(8)
                + rng.choice([2013, 2012, 2004, 1]).to_bytes(4, "little")
                + data
            )
        with attacked.wire() as wire:
            wire.send(data)
            if number % 2:
                wire.frame()
