"""Incremental backups and restores up to an instant: each backup continues where the previous one
ended, and a chain with a gap or of another database is refused."""

import json
import pathlib
import random
import shutil
import socket
import subprocess
import threading
from contextlib import contextmanager, suppress

from lib.server import EBB_BIN, Server, date

from backup.ledger import Ledger
from backup.tools import (
    at,
    backup,
    environment,
    refused,
    reported_ms,
    restore,
    restored,
    rfc3339,
    run,
    sound,
)

#: Flags of a server that archives its journal for them.
KEEPS = ["--backup-journal", "1g"]
#: Bytes of a backup that are relayed before it is held up.
PASSED = 1 << 20
#: Documents whose bytes do not fit into the buffers on the way: the server has 16 MB, the kernel 4.
PADS, PAD_BYTES = 150, 200_000


def test_a_chain_under_load_with_restarts(tmp_path):
    kept = tmp_path / "kept"
    with Server(data_dir=True, flags=KEEPS) as server:
        server.client["d"]["c"].insert_many([{"_id": n, "pad": "x" * 200} for n in range(5_000)])
        backup(server, f"{kept}/")
        for round in range(3):
            with Ledger(server, f"round{round}") as ledger:
                while ledger.done < 30:
                    assert ledger.failure is None, ledger.failure
                server.advance(1_000)
                least = ledger.done
                taken = backup(server, f"{kept}/", "--incremental")
                most = ledger.begun
            assert (taken["kind"], taken["after_entry"] < taken["last_entry"]) == (
                "incremental",
                True,
            )
            if round == 1:
                server.kill()
                server.start()
            else:
                server.restart()
            directory = tmp_path / f"copy{round}"
            restore(kept, directory)
            sound(directory)
            with restored(directory) as copy:
                assert copy.client["d"]["c"].count_documents({}) == 5_000
                ledger.step_of(copy.client, least, most)
        # Nothing has changed except by the server's background work.
        server.advance(1_000)
        quiet = backup(server, f"{kept}/", "--incremental")
        assert quiet["bytes"] < 50_000
    assert "5 of them follow each other" in verified(kept)


def verified(folder):
    return run("verify", folder)[0].decode()


def test_a_restore_goes_up_to_the_instant_that_is_named(tmp_path):
    """One document each second of a manual clock: each instant has its own number of them."""
    kept = tmp_path / "kept"
    with Server(data_dir=True, flags=KEEPS) as server:
        collection = server.client["d"]["c"]
        collection.insert_one({"_id": 0})
        backup(server, f"{kept}/")
        instants = [server.now_ms()]
        for number in range(1, 13):
            server.advance(1_000)
            collection.insert_one({"_id": number})
            instants.append(server.now_ms())
            if number % 4 == 0:
                backup(server, f"{kept}/", "--incremental")
    for number, wanted in [(0, 0), (1, 0), (3, 3), (4, 4), (5, 4), (8, 8), (12, 12)]:
        # A millisecond before a document was inserted, if it must not be in the copy.
        instant = instants[number] - (number - wanted)
        directory = tmp_path / f"copy{number}"
        said = restore(kept, directory, "--to", rfc3339(instant))
        assert said["documents"] == wanted + 1, (number, said)
        with restored(directory) as copy:
            found = sorted(row["_id"] for row in copy.client["d"]["c"].find())
            assert found == list(range(wanted + 1)), (number, found)
            assert copy.now_ms() == instant
        sound(directory)
    flags = ["--data-dir", tmp_path / "x", "--to"]
    early = refused("restore", kept, *flags, rfc3339(instants[0] - 1))
    assert "no full backup that ended by that instant" in early
    late = refused("restore", kept, *flags, rfc3339(instants[-1] + 9_000))
    assert "omit --to" in late
    assert not (tmp_path / "x").exists()


class Narrow:
    """A relay to the admin address of a server that holds up a long reply until it may continue."""

    def __init__(self, server):
        self.server = server
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.stands, self.goes_on = threading.Event(), threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def address(self):
        return f"127.0.0.1:{self.listening.getsockname()[1]}"

    def accept(self):
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            host, port = self.server.admin_url.removeprefix("http://").split(":")
            # The kernel may buffer tens of megabytes for a slow reader, which is all of a backup.
            far = socket.socket()
            far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
            far.connect((host, int(port)))
            threading.Thread(target=self.pass_on, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(far, near, True), daemon=True).start()

    def pass_on(self, one, other, answers):
        passed = 0
        with suppress(OSError):
            while part := one.recv(64 * 1024):
                passed += len(part)
                if answers and passed > PASSED:
                    self.stands.set()
                    self.goes_on.wait()
                other.sendall(part)
            other.shutdown(socket.SHUT_WR)


@contextmanager
def taking(server, folder, *flags):
    """Runs a backup that is held up during the body, and waits for its end after it."""
    narrow = Narrow(server)
    words = [EBB_BIN, "backup", f"{folder}/", "--admin-addr", narrow.address(), *flags]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, env=environment(), **quiet) as process:
        assert narrow.stands.wait(60), "it does not come so far"
        yield
        narrow.goes_on.set()
    narrow.listening.close()
    assert process.returncode == 0, f"exit {process.returncode}"


def ends(folder):
    """Returns the instants at which backups ended, in their order."""
    out, _ = run("verify", folder, "--json")
    return [reported_ms(found["at"]) for found in json.loads(out)["backups"]]


def write_some(server, first):
    """Inserts a document each second of a manual clock; returns the instant of each."""
    collection, instants = server.client["d"]["c"], {}
    for number in range(first, first + 20):
        server.advance(1_000)
        collection.insert_one({"_id": number})
        instants[number] = server.now_ms()
    return instants


def test_instants_at_which_a_backup_was_being_taken(tmp_path):
    """A restore to such an instant has everything acknowledged by then, or is refused."""
    kept, rng = tmp_path / "kept", random.Random(1)
    flags = ["--data-dir", tmp_path / "x", "--to"]
    with Server(data_dir=True, flags=KEEPS) as server:
        pads = [{"_id": n, "pad": rng.randbytes(PAD_BYTES)} for n in range(2 * PADS)]
        server.client["d"]["pads"].insert_many(pads[:PADS])
        with taking(server, kept):
            of_full = write_some(server, 0)
        # A restore to the backup's end is possible, but needs a later incremental backup.
        for to, why in [
            (next(iter(of_full.values())), "no full backup that ended by that instant"),
            (ends(kept)[-1], "take another incremental backup"),
        ]:
            assert why in refused("restore", kept, *flags, rfc3339(to))
        server.client["d"]["pads"].insert_many(pads[PADS:])
        server.advance(1_000)
        with taking(server, kept, "--incremental"):
            instants = write_some(server, len(of_full))
        late = refused("restore", kept, *flags, rfc3339(ends(kept)[-1]))
        assert "take another incremental backup" in late
        server.advance(1_000)
        backup(server, f"{kept}/", "--incremental")
    assert not (tmp_path / "x").exists()
    wanted = list(instants.items())
    for number, instant in [*wanted[:: len(wanted) // 4], wanted[-1]]:
        directory = tmp_path / f"copy{number}"
        restore(kept, directory, "--to", rfc3339(instant))
        with restored(directory) as copy:
            found = sorted(row["_id"] for row in copy.client["d"]["c"].find())
            assert found == list(range(number + 1)), (number, len(found))
            assert copy.now_ms() == instant
        sound(directory)
        shutil.rmtree(directory)


def test_a_backup_soon_after_one_of_the_directory(tmp_path):
    """The clock of the full backup is ahead by the rest of the server's clock lease."""
    kept = tmp_path / "kept"
    kept.mkdir()
    with Server(data_dir=True, clock="system", flags=KEEPS) as server:
        server.client["d"]["c"].insert_one({"_id": "before"})
        server.stop()
        run("backup", kept, "--data-dir", server.data_dir)
        server.start()
        server.client["d"]["c"].insert_one({"_id": "after"})
        backup(server, f"{kept}/", "--incremental")
    said = restore(kept, tmp_path / "copy")
    assert said["documents"] == 2, said
    assert reported_ms(said["at"]) == max(ends(kept)), said


def test_what_expired_and_was_reaped_stays_gone_over_a_chain(tmp_path):
    """Floors of an index that was dropped must apply to rows of the full backup."""
    kept = tmp_path / "kept"
    with Server(data_dir=True, flags=KEEPS) as server:
        collection = server.client["d"]["c"]
        collection.create_index("at", expireAfterSeconds=10)
        now = server.now_ms()
        collection.insert_many(
            [{"_id": n, "at": date(now), "pad": "x" * 500} for n in range(1_000)]
        )
        collection.insert_one({"_id": "stays"})
        backup(server, f"{kept}/")
        server.advance(20_000)
        assert collection.count_documents({}) == 1
        collection.drop_index("at_1")
        server.wait_until_reaped(("d", "c"))
        server.wait_for_passes(4)
        collection.insert_one({"_id": "later"})
        backup(server, f"{kept}/", "--incremental")
    restore(kept, tmp_path / "copy")
    sound(tmp_path / "copy")
    with restored(tmp_path / "copy") as copy:
        found = sorted(row["_id"] for row in copy.client["d"]["c"].find())
        assert found == ["later", "stays"]
        copy.wait_for_passes(4)
        assert copy.client["d"]["c"].count_documents({}) == 2


def test_gaps_and_foreign_backups_are_refused(tmp_path):
    kept, other = tmp_path / "kept", tmp_path / "other"
    with Server(data_dir=True, flags=KEEPS) as server:
        collection = server.client["d"]["c"]
        files = []
        for number in range(4):
            collection.insert_one({"_id": number})
            flags = ["--incremental"] if number else []
            taken = backup(server, f"{kept}/", *flags)
            files.append(pathlib.Path(taken["file"]))
            server.advance(1_000)
        shutil.copytree(kept, other)
        (other / files[2].name).unlink()
        said = refused("restore", other, "--data-dir", tmp_path / "x")
        assert "are missing before it" in said and files[3].name in said
        assert "are missing" in refused("verify", other)
        said = refused("restore", files[1], "--data-dir", tmp_path / "x")
        assert "give its directory" in said
        assert not (tmp_path / "x").exists()
        # A restored copy is another database.
        restore(kept, tmp_path / "copy")
        with restored(tmp_path / "copy", flags=KEEPS) as copy:
            said = refused("backup", f"{kept}/", "--incremental", *at(copy))
            assert "a different database" in said
        empty = tmp_path / "empty"
        empty.mkdir()
        said = refused("backup", f"{empty}/", "--incremental", *at(server))
        assert "no full backup" in said or "no backup" in said
        # Running without the journal's archive leaves a gap.
        server.leave()
        server.flags = []
        server.start()
        said = refused("backup", f"{kept}/", "--incremental", *at(server))
        assert "--backup-journal" in said
        server.client["d"]["c"].insert_one({"_id": "unseen"})
        server.leave()
        server.flags = KEEPS
        server.start()
        said = refused("backup", f"{kept}/", "--incremental", *at(server))
        assert "take a full backup" in said
        backup(server, f"{kept}/")
        server.advance(1)
        server.client["d"]["c"].insert_one({"_id": "seen"})
        backup(server, f"{kept}/", "--incremental")
    restore(kept, tmp_path / "again")
    with restored(tmp_path / "again") as copy:
        assert copy.client["d"]["c"].count_documents({}) == 6
