"""Emulates `systemctl` and `journalctl` for one unit, as far as docs/operations.md uses them: a
test has no systemd, but the directives of the unit have to take effect. An unknown directive is an
error, so that none is added to the unit untested."""

import os
import pathlib
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

UNITS = pathlib.Path("/etc/systemd/system")
STATE = pathlib.Path("/run/as-systemd")
#: Directives that are implemented below.
DONE = {
    *("Type", "ExecStart", "ExecReload", "EnvironmentFile", "Environment"),
    *("User", "Group", "UMask"),
    *("StateDirectory", "StateDirectoryMode", "LogsDirectory", "LogsDirectoryMode"),
    *("WatchdogSec", "LimitNOFILE", "LimitCORE", "ProtectSystem", "ProtectHome", "PrivateTmp"),
    *("NoNewPrivileges", "CapabilityBoundingSet", "TimeoutStopSec", "TimeoutStartSec"),
}
#: Ignored directives: they need more of the kernel than a test has, or concern restarts.
LEFT = {
    *("Description", "Documentation", "Wants", "After", "WantedBy", "Restart", "RestartSec"),
    *("RestartPreventExitStatus", "OOMScoreAdjust", "PrivateDevices", "ProtectKernelTunables"),
    *("ProtectKernelModules", "ProtectControlGroups", "ProtectClock", "RestrictAddressFamilies"),
    *("RestrictNamespaces", "LockPersonality", "MemoryDenyWriteExecute", "RestrictRealtime"),
    *("RestrictSUIDSGID", "SystemCallArchitectures", "ProtectKernelLogs", "ProtectHostname"),
    *("ProtectProc", "PrivateMounts", "RemoveIPC", "SystemCallFilter", "SystemCallErrorNumber"),
}
#: Paths that a service with ProtectSystem=strict may write to, besides its own directories.
WRITABLE = ("/dev", "/proc", "/run")


class Unit:
    """The directives of a unit by name, each with all its values."""

    def __init__(self, name):
        self.name = name.removesuffix(".service")
        self.path = UNITS / f"{self.name}.service"
        self.lines = {}
        if not self.path.exists():
            sys.exit(f"Unit {self.name}.service could not be found.")
        for line in self.path.read_text().splitlines():
            if line.strip() and line[0] not in "#;[":
                key, value = line.split("=", 1)
                if key not in DONE | LEFT:
                    sys.exit(f"{self.path}: {key} is not known to {__file__}")
                self.lines.setdefault(key, []).append(value)

    def value(self, key, default=""):
        return self.lines.get(key, [default])[-1]

    def variables(self):
        """Returns the environment of the service: nothing of the caller's."""
        found = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8"}
        for path in self.lines.get("EnvironmentFile", []):
            file = pathlib.Path(path.removeprefix("-"))
            if file.exists():
                lines = file.read_text().splitlines()
                found |= dict(line.split("=", 1) for line in lines if line[:1] not in ("", "#"))
            elif not path.startswith("-"):
                sys.exit(f"{file}: no such file")
        # Environment files take precedence over Environment lines in any order.
        lines = dict(line.split("=", 1) for line in self.lines.get("Environment", []))
        return lines | found

    def directories(self):
        """Creates the directories that the unit asks for, and returns them."""
        made = []
        for key, base in (("StateDirectory", "/var/lib"), ("LogsDirectory", "/var/log")):
            if name := self.value(key):
                path = pathlib.Path(base) / name
                path.mkdir(parents=True, exist_ok=True)
                path.chmod(int(self.value(f"{key}Mode", "0755"), 8))
                # Like systemd, changes the owner of all contents if the directory has another.
                for each in [path, *path.rglob("*")] if path.owner() != self.value("User") else []:
                    shutil.chown(each, self.value("User"), self.value("Group"))
                made.append(str(path))
        return made

    def command(self):
        """Returns the command of the service in its own mount namespace, as its user."""
        steps = [f"mount --rbind {path} {path}" for path in self.directories()]
        if self.value("ProtectHome") == "yes":
            steps += [f"mount -t tmpfs -o ro tmpfs {path}" for path in ("/home", "/root")]
        if self.value("PrivateTmp") == "yes":
            steps += [f"mount -t tmpfs tmpfs {path}" for path in ("/tmp", "/var/tmp")]
        if self.value("ProtectSystem") == "strict":
            steps += ["mount -o remount,bind,ro /"]
        user, group = self.value("User", "root"), self.value("Group", "root")
        privileges = ["setpriv", f"--reuid={user}", f"--regid={group}", "--init-groups"]
        if self.value("NoNewPrivileges") == "yes":
            privileges += ["--no-new-privs"]
        if self.lines.get("CapabilityBoundingSet") == [""]:
            privileges += ["--inh-caps=-all", "--bounding-set=-all"]
        run = shlex.join([*privileges, *shlex.split(self.value("ExecStart"))])
        return ["unshare", "--mount", "sh", "-ec", "; ".join([*steps, f"exec {run}"])]

    def limits(self):
        """Sets limits and umask of the process that becomes the service."""
        for name in ("NOFILE", "CORE"):
            kind = getattr(resource, f"RLIMIT_{name}")
            most = resource.getrlimit(kind)[1]
            limit = int(self.value(f"Limit{name}", "1024"))
            # Raising the machine's own limit would require CAP_SYS_RESOURCE.
            limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
            resource.setrlimit(kind, (limit, limit))
        os.umask(int(self.value("UMask", "0022"), 8))

    def note(self, what):
        """Writes the state file atomically."""
        made = STATE / f"{self.name}.state.{os.getpid()}"
        made.write_text(what)
        made.replace(STATE / f"{self.name}.state")

    def state(self):
        file = STATE / f"{self.name}.state"
        return file.read_text() if file.exists() else "inactive"

    def pid(self):
        return int((STATE / f"{self.name}.pid").read_text())

    def log(self):
        """Returns the file with the output of the service."""
        file = STATE / f"{self.name}.log"
        file.touch()
        return file


def supervise(unit):
    """Runs the service until it exits, and records the states that it reports."""
    assert unit.value("Type") == "notify", f"{unit.path}: Type={unit.value('Type')}"
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    where = STATE / f"{unit.name}.notify"
    where.unlink(missing_ok=True)
    told.bind(str(where))
    where.chmod(0o666)
    environment = unit.variables() | {"NOTIFY_SOCKET": str(where)}
    if watchdog := unit.value("WatchdogSec"):
        environment["WATCHDOG_USEC"] = str(int(watchdog) * 1_000_000)
    with open(unit.log(), "ab") as log:
        service = subprocess.Popen(
            unit.command(),
            env=environment,
            preexec_fn=unit.limits,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
        )
    (STATE / f"{unit.name}.pid").write_text(str(service.pid))
    told.settimeout(0.05)
    while service.poll() is None:
        try:
            lines = told.recv(4096).decode().splitlines()
        except TimeoutError:
            continue
        for line, state in (("READY=1", "active"), ("RELOADING=1", "reloading")):
            if line in lines:
                unit.note(state)
    unit.note("inactive" if service.returncode == 0 else f"failed (exit {service.returncode})")


def start(unit):
    if unit.state() in ("active", "reloading"):
        return
    unit.note("activating")
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        try:
            supervise(unit)
        except BaseException as error:
            unit.note(f"failed ({error})")
            raise
        os._exit(0)
    await_state(unit, lambda state: state != "activating", 30)
    if unit.state() != "active":
        sys.exit(f"Job for {unit.name}.service failed: {unit.state()}\n{unit.log().read_text()}")


def stop(unit):
    if unit.state() in ("active", "reloading"):
        os.kill(unit.pid(), signal.SIGTERM)
        await_state(unit, lambda state: state not in ("active", "reloading"), 30)
        assert unit.state() == "inactive", unit.state()


def reload(unit):
    command = unit.value("ExecReload").replace("$MAINPID", str(unit.pid()))
    assert command, f"{unit.path} has no ExecReload"
    unit.note("reload asked for")
    subprocess.run(shlex.split(command), check=True)
    await_state(unit, lambda state: state == "active", 10)


def await_state(unit, holds, within):
    until = time.monotonic() + within
    while not holds(unit.state()):
        assert time.monotonic() < until, f"{unit.name} is {unit.state()}"
        time.sleep(0.01)


def systemctl(what, *rest):
    names = [name for name in rest if not name.startswith("-")]
    if what == "daemon-reload":
        return
    unit = Unit(names[0])
    if what in ("start", "restart", "enable"):
        assert what != "enable" or "--now" in rest
        if what == "restart":
            stop(unit)
        start(unit)
    elif what == "stop":
        stop(unit)
    elif what == "reload":
        reload(unit)
    elif what == "status":
        print(f"{unit.name}.service: {unit.state()}\n{unit.log().read_text()[-2000:]}")
    else:
        sys.exit(f"Unknown command verb {what}.")


def journalctl(*arguments):
    name = arguments[arguments.index("-u") + 1]
    lines = Unit(name).log().read_text().splitlines()
    count = int(arguments[arguments.index("-n") + 1]) if "-n" in arguments else len(lines)
    print("\n".join(lines[-count:]))


if __name__ == "__main__":
    STATE.mkdir(exist_ok=True)
    {"systemctl": systemctl, "journalctl": journalctl}[sys.argv[1]](*sys.argv[2:])
