"""Backups in an S3 store: moto's server, on this machine. An object exists once its backup is
complete, and an incomplete backup leaves no parts."""

import json
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from lib.ports import free_port
from lib.server import Server

from backup.tools import at, environment, refused, restored, run, sound

KEEPS = ["--backup-journal", "1g"]


class Store:
    """A moto server with a bucket."""

    def __init__(self, home):
        self.url = f"http://127.0.0.1:{free_port()}"
        command = [sys.executable, "-m", "moto.server", "-p", self.url.rsplit(":", 1)[1]]
        self.log = open(pathlib.Path(home) / "moto.log", "wb")  # noqa: SIM115
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        until = time.monotonic() + 60
        while True:
            try:
                self.ask("PUT", "kept")
                return
            except OSError:
                assert time.monotonic() < until and self.process.poll() is None, "no moto"
                time.sleep(0.1)

    def ask(self, method, path):
        request = urllib.request.Request(f"{self.url}/{path}", method=method)
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.read().decode()

    def environment(self, **more):
        return environment(
            AWS_ENDPOINT_URL=self.url,
            AWS_ACCESS_KEY_ID="test",
            AWS_SECRET_ACCESS_KEY="test",
            AWS_REGION="us-east-1",
            **more,
        )

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("moto"))
    yield store
    store.close()


def asked(*words, store):
    out, _ = run(*words, "--json", env=store.environment())
    return json.loads(out)


def test_a_chain_of_objects(store, tmp_path):
    with Server(data_dir=True, flags=KEEPS) as server:
        collection = server.client["d"]["c"]
        collection.insert_many([{"_id": n, "pad": f"{n}" * 300} for n in range(30_000)])
        place = "s3://kept/chain/"
        full = asked("backup", place, *at(server), store=store)
        assert full["file"].startswith(place) and full["kind"] == "full"
        server.advance(1_000)
        collection.insert_one({"_id": "later"})
        taken = asked("backup", place, "--incremental", *at(server), store=store)
        assert taken["after_entry"] == full["last_entry"]
    found = asked("verify", place, store=store)
    assert found["chain"] == [full["file"], taken["file"]]
    said = asked("restore", place, "--data-dir", tmp_path / "copy", store=store)
    assert said["documents"] == 30_001
    sound(tmp_path / "copy")
    asked("restore", full["file"], "--data-dir", tmp_path / "one", store=store)
    with restored(tmp_path / "one") as copy:
        assert copy.client["d"]["c"].count_documents({}) == 30_000


def test_what_fails_leaves_no_object(store, tmp_path):
    place = "s3://kept/once.ebb"
    with Server(data_dir=True) as server:
        server.client["d"]["c"].insert_one({"_id": 1})
        asked("backup", place, *at(server), store=store)
        env = store.environment()
        assert "already exists" in refused("backup", place, *at(server), env=env)
        said = refused("backup", "s3://nobody/x.ebb", *at(server), env=env)
        assert "s3://nobody/x.ebb" in said
        for wrong in ("s3://", "ftp://kept/x"):
            assert wrong in refused("backup", wrong, *at(server), env=env, code=2)
    # The server has stopped: nothing was uploaded.
    refused("backup", "s3://kept/gone.ebb", *at(server), env=env)
    said = refused("restore", "s3://kept/none.ebb", "--data-dir", tmp_path / "x", env=env)
    assert "none.ebb" in said and not (tmp_path / "x").exists()
    with pytest.raises(urllib.error.HTTPError):
        store.ask("GET", "kept/gone.ebb")
    assert "<Upload>" not in store.ask("GET", "kept?uploads")
