"""`ebb admin doctor`: findings for a server with development defaults and for a hosting one."""

import json
import os
import resource
import shutil
import subprocess

from lib.server import EBB_BIN, Server

from access.guarded import Guarded

#: Checks whose result depends on the machine that the tests run on.
OF_MACHINE = {"system user", "room"}


def examine(server, *flags):
    """Returns the exit code of `ebb admin doctor`, and the checks by grade."""
    address = server.admin_url.removeprefix("http://")
    command = [EBB_BIN, "admin", "--admin-addr", address, *flags, "doctor", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30)
    report = json.loads(ran.stdout)
    grades = {"good": set(), "warning": set(), "problem": set()}
    for found in report["checks"]:
        grades[found["grade"]].add(found["check"])
        assert found["text"]
        assert bool(found["remedy"]) == (found["grade"] != "good")
    assert report["problems"] == len(grades["problem"])
    assert report["warnings"] == len(grades["warning"])
    return ran.returncode, grades


def limit(server, **limits):
    for name, value in limits.items():
        resource.prlimit(server.process.pid, getattr(resource, f"RLIMIT_{name}"), (value, value))


def test_a_server_of_a_developer():
    with Server(nosql=True) as server:
        limit(server, CORE=resource.RLIM_INFINITY, NOFILE=1024)
        status, grades = examine(server)
    assert status == 1
    assert grades["warning"] - OF_MACHINE == {
        "logins",
        "account key",
        "audit log",
        "data directory",
        "descriptors",
        "core dumps",
        "clock",
    }
    assert grades["problem"] - OF_MACHINE == set()


def test_a_server_that_hosts_data(tmp_path):
    with Server(data_dir=True, nosql=True) as made:
        for name in ("certificate.pem", "key.pem"):
            shutil.copy(made.data_dir / "nosql" / name, tmp_path)
    flags = [
        *("--mongo-tls", "require", "--audit-file", str(tmp_path / "audit.log")),
        *("--tls-cert", str(tmp_path / "certificate.pem"), "--tls-key", str(tmp_path / "key.pem")),
    ]

    class Hosting(Guarded):
        def connect(self, **options):
            options |= {"tls": True, "tlsCAFile": str(tmp_path / "certificate.pem")}
            return super().connect(**options, tlsAllowInvalidHostnames=True)

    with Hosting(flags, data_dir=True, clock="system") as server:
        limit(server, CORE=0)
        status, grades = examine(server, "--key-file", str(server.data_dir / "admin.key"))
        # The limit of descriptors is the system's.
        found = (grades["warning"] | grades["problem"]) - OF_MACHINE - {"descriptors"}
        assert found == set()
        assert status == bool(grades["warning"] | grades["problem"])
        assert ("system user" in grades["problem"]) == (os.geteuid() == 0)
        server.data_dir.chmod(0o755)
        _, grades = examine(server, "--key-file", str(server.data_dir / "admin.key"))
        assert "data directory" in grades["problem"]
