"""`ebb admin doctor` on the set-up of docs/operations.md: it finds nothing there, and detects each
single deviation."""

import json

import pytest

SETTINGS, UNIT = "/etc/ebb/ebb.toml", "/etc/systemd/system/ebb.service"
#: The other data folder in the settings, which then has the server's key.
ELSEWHERE = "/var/lib/ebb/elsewhere"


def setting(name, value):
    """Returns a command that sets a setting in the file to this value."""
    return f"""sed -i '/^{name} = /d' {SETTINGS}; echo '{name} = "{value}"' >>{SETTINGS}"""


def without(*names):
    return "; ".join(f"sed -i '/^{name} = /d' {SETTINGS}" for name in names)


def of_unit(name, value):
    return f"sed -i 's/^{name}=.*/{name}={value}/' {UNIT}"


OWN_KEY = (
    "(umask 027; openssl rand -base64 64 | tr -d '\\n' >/etc/ebb/account.key);"
    f"chgrp ebb /etc/ebb/account.key; {setting('key-file', '/etc/ebb/account.key')}"
)
#: A device of 2 GB with less than a tenth of its space free.
FULL = (
    "truncate -s 2g /root/device; mkfs.ext4 -q -m 0 /root/device;"
    f"mkdir {ELSEWHERE}; mount -o loop /root/device {ELSEWHERE};"
    f"fallocate -l 1800m {ELSEWHERE}/other; mkdir -m 700 {ELSEWHERE}/data;"
    f"chown ebb: {ELSEWHERE} {ELSEWHERE}/data"
)
#: The check, its grade, and the deviation before the start; a command after the start.
DEVIATIONS = [
    ("logins", "problem", f"{without('mongo-auth')}; {setting('mongo-no-auth', 'true')}", ""),
    ("mongodb tls", "problem", setting("mongo-tls", "allow"), ""),
    ("admin tls", "problem", setting("admin-addr", "0.0.0.0:8080"), ""),
    ("nosql tls", "warning", f"{setting('cosmos-addr', '0.0.0.0:8081')}; {OWN_KEY}", ""),
    ("account key", "warning", setting("cosmos-addr", "127.0.0.1:8081"), ""),
    ("certificate", "warning", without("tls-cert", "tls-key"), ""),
    ("private key", "problem", "chmod 644 /etc/ebb/key.pem", ""),
    ("audit log", "warning", without("audit-file"), ""),
    ("system user", "problem", f"{of_unit('User', 'root')}; {of_unit('Group', 'root')}", ""),
    ("data directory", "problem", "", "chmod 755 /var/lib/ebb"),
    ("room", "warning", f"{FULL}; {setting('data-dir', ELSEWHERE + '/data')}", ""),
    ("descriptors", "warning", of_unit("LimitNOFILE", "1024"), ""),
    ("core dumps", "warning", of_unit("LimitCORE", "100000"), ""),
    (
        "clock",
        "warning",
        f"{setting('clock', 'manual')}; {setting('data-dir', ELSEWHERE)}",
        "",
    ),
    ("reaping", "warning", "", "ebb admin --key-file /var/lib/ebb/admin.key ttl pause"),
]


@pytest.fixture
def hosting(walked):
    """The machine with a copy of the files that tests change, which are restored."""
    walked.prepare("rm -rf /root/kept; mkdir /root/kept", f"cp -p {SETTINGS} {UNIT} /root/kept")
    yield walked
    walked.machine.run("ebb admin --key-file /var/lib/ebb/admin.key ttl resume")
    walked.prepare(
        "systemctl stop ebb",
        f"cp -p /root/kept/ebb.toml {SETTINGS}; cp -p /root/kept/ebb.service {UNIT}",
        f"umount {ELSEWHERE} 2>/dev/null || true; rm -rf {ELSEWHERE} /root/device",
        "chmod 640 /etc/ebb/key.pem; chown -R ebb: /var/lib/ebb /var/log/ebb",
        "systemctl start ebb",
    )


def found(machine):
    """Returns the exit code of `ebb admin doctor`, and by check the findings that are not good."""
    keys = f"/var/lib/ebb {ELSEWHERE} {ELSEWHERE}/data"
    last = f"for at in {keys}; do [ ! -e $at/admin.key ] || key=$at/admin.key; done"
    account = "[ ! -e /etc/ebb/account.key ] || key=/etc/ebb/account.key"
    machine.run(f"{last}; {account}")
    printed, _ = machine.run('ebb admin --key-file "$key" doctor --json; echo " $?"')
    report, code = printed.rsplit(" ", 1)
    checks = json.loads(report)["checks"]
    bad = [it for it in checks if it["grade"] != "good"]
    assert all(it["remedy"] for it in bad)
    bad = {it["check"]: it["grade"] for it in bad}
    return int(code), bad, {it["check"] for it in checks}


def test_nothing_is_found_on_the_documented_set_up(hosting):
    code, bad, checks = found(hosting.machine)
    assert (code, bad) == (0, {})
    # The set-up does not influence the state of the disk and its journal, reads in progress, and
    # other nodes.
    others = {"store", "old views", "cluster"}
    assert checks - {name for name, *_ in DEVIATIONS} == others


@pytest.mark.parametrize(
    ("check", "grade", "before", "after"), DEVIATIONS, ids=[it[0] for it in DEVIATIONS]
)
def test_what_is_done_otherwise_is_told(hosting, check, grade, before, after):
    if before:
        hosting.prepare("systemctl stop ebb", before, "systemctl start ebb")
    if after:
        hosting.prepare(after)
    code, bad, _ = found(hosting.machine)
    hosting.machine.run("rm -f /etc/ebb/account.key")
    assert code == 1
    assert bad == {check: grade}
