"""The Debian package on a fresh Debian: the files it installs, that the service starts and
restarts, that an upgrade keeps settings, and the files left after removal and purge."""

import json

import pytest

UP = "ebb admin status | grep -qx 'status: ok'"
#: One document in the format of an export.
DOCUMENT = '{"_id": "tea", "n": {"$numberInt": "1"}}'
DEFAULT = "/etc/ebb/ebb.toml"


@pytest.fixture
def fresh(debian):
    """The machine as if the package had never been installed, and then with it."""
    debian.run("dpkg --purge ebb", check=False)
    debian.run("dpkg --install /run/host/ebb.deb")
    return debian


def write(debian):
    debian.run(f"echo '{DOCUMENT}' >/tmp/in.json; ebb import -d shop -c carts /tmp/in.json")


def read(debian):
    debian.run("rm -f /tmp/out.json; ebb export -d shop -c carts --out /tmp/out.json")
    return json.loads(debian.says("cat /tmp/out.json"))


def processes(debian):
    """Returns the processes of the machine that run a binary of ebb."""
    return debian.says("readlink /proc/[0-9]*/exe | grep /ebb || true").split()


def unit(debian, *properties):
    """Returns properties of the service from systemd."""
    shown = debian.says(f"systemctl show ebb --property {','.join(properties)}")
    return dict(line.split("=", 1) for line in shown.splitlines())


def test_the_service_runs_after_the_package_was_installed(fresh):
    assert unit(fresh, "ActiveState", "SubState", "UnitFileState", "Type", "WatchdogUSec") == {
        "ActiveState": "active",
        "SubState": "running",
        "UnitFileState": "enabled",
        "Type": "notify",
        "WatchdogUSec": "30s",
    }
    fresh.run(UP)
    assert fresh.says(f"stat --format %U:%G /proc/{unit(fresh, 'MainPID')['MainPID']}") == "ebb:ebb"


def test_it_makes_what_belongs_to_nobody_else(fresh):
    owners = fresh.says(f"stat --format '%U:%G %a %n' /etc/ebb {DEFAULT} /var/lib/ebb /var/log/ebb")
    assert owners.splitlines() == [
        "root:ebb 750 /etc/ebb",
        f"root:root 644 {DEFAULT}",
        "ebb:ebb 700 /var/lib/ebb",
        "ebb:ebb 750 /var/log/ebb",
    ]
    assert fresh.says("getent passwd ebb").endswith(":/var/lib/ebb:/usr/sbin/nologin")
    assert fresh.says("dpkg --verify ebb") == ""


def test_documents_are_there_after_a_restart(fresh):
    write(fresh)
    before = unit(fresh, "MainPID")
    fresh.run("systemctl restart ebb")
    assert unit(fresh, "MainPID") != before
    assert read(fresh) == json.loads(DOCUMENT)


def test_a_server_that_is_killed_is_started_again(fresh):
    write(fresh)
    fresh.run("systemctl kill --signal=KILL ebb")
    fresh.until(lambda: unit(fresh, "NRestarts")["NRestarts"] == "1", "it is started again")
    fresh.until(lambda: fresh.run(UP, check=False).returncode == 0, "it serves")
    assert read(fresh) == json.loads(DOCUMENT)


def test_a_reload_keeps_the_process(fresh):
    before = unit(fresh, "MainPID")
    fresh.run("systemctl reload ebb")
    fresh.run(UP)
    assert unit(fresh, "MainPID") == before


def test_nothing_that_it_asks_the_kernel_for_is_refused(fresh):
    """Writes, reads, a backup and a check, under the unit's own restrictions."""
    write(fresh)
    fresh.run("mkdir -p /tmp/backups && ebb backup /tmp/backups/ && ebb verify /tmp/backups/")
    assert read(fresh) == json.loads(DOCUMENT)
    log = fresh.says("journalctl --boot --unit ebb --output cat")
    assert "not permitted" not in log
    assert "denied" not in log
    # systemd has actually installed the filter.
    status = fresh.says("cat /proc/$(systemctl show ebb --property MainPID --value)/status")
    assert "Seccomp:\t2" in status
    assert "CapBnd:\t0000000000000000" in status


def test_an_upgrade_keeps_settings_and_documents(fresh):
    fresh.run(f"echo 'memory = \"600m\"' >>{DEFAULT}")
    fresh.run("systemctl restart ebb")
    write(fresh)
    before = unit(fresh, "MainPID")
    fresh.run("dpkg --force-confdef --force-confold --install /run/host/newer.deb")
    assert fresh.says("dpkg-query -W -f '${Version}' ebb") == "9.0"
    assert fresh.says(f"tail -n 1 {DEFAULT}") == 'memory = "600m"'
    # The new default settings are stored beside the changed ones.
    assert "# newer" in fresh.says(f"cat {DEFAULT}.dpkg-dist")
    assert unit(fresh, "MainPID") != before, "the old server still runs"
    assert unit(fresh, "ActiveState") == {"ActiveState": "active"}
    assert read(fresh) == json.loads(DOCUMENT)


def test_an_upgrade_leaves_a_service_alone_that_was_disabled(fresh):
    fresh.run("systemctl disable --now ebb")
    fresh.run("dpkg --force-confnew --install /run/host/newer.deb")
    assert unit(fresh, "ActiveState", "UnitFileState") == {
        "ActiveState": "inactive",
        "UnitFileState": "disabled",
    }


def test_an_owner_that_an_administrator_chose_stays(fresh):
    fresh.run("dpkg-statoverride --update --add root root 0711 /etc/ebb")
    fresh.run("dpkg --force-confnew --install /run/host/newer.deb")
    assert fresh.says("stat --format '%U:%G %a' /etc/ebb") == "root:root 711"
    fresh.run("dpkg-statoverride --remove /etc/ebb")


def test_removed_it_leaves_data_and_settings(fresh):
    write(fresh)
    fresh.run(f"echo '# mine' >>{DEFAULT}")
    fresh.run("dpkg --remove ebb")
    assert not processes(fresh), "the server still runs"
    assert fresh.says(f"tail -n 1 {DEFAULT}") == "# mine"
    fresh.run("dpkg --install /run/host/ebb.deb")
    assert read(fresh) == json.loads(DOCUMENT)
    assert fresh.says(f"tail -n 1 {DEFAULT}") == "# mine"


def test_purged_it_leaves_nothing_but_its_user(fresh):
    write(fresh)
    fresh.run("dpkg --purge ebb")
    left = "find / -xdev -iname '*ebb*' -not -path '/proc/*' -not -path '/run/*'"
    found = fresh.says(f"{left} -not -path '/var/log/journal/*' -not -path '/tmp/*'")
    assert found == ""
    assert unit(fresh, "LoadState") == {"LoadState": "not-found"}
    assert not processes(fresh)
    assert fresh.says("getent passwd ebb").startswith("ebb:")


def test_purged_it_leaves_the_keys_of_an_administrator(fresh):
    fresh.run("touch /etc/ebb/key.pem")
    fresh.run("dpkg --purge ebb")
    assert fresh.says("ls /etc/ebb") == "key.pem"
    fresh.run("rm -r /etc/ebb")


def test_settings_that_are_wrong_do_not_fail_the_installation(fresh):
    fresh.run(f"echo 'no-such-setting = 1' >>{DEFAULT}")
    said = fresh.says("dpkg --force-confdef --force-confold --install /run/host/newer.deb 2>&1")
    assert "ebb.service did not restart: journalctl -u ebb says why" in said
    assert "no-such-setting" in fresh.says("journalctl --unit ebb --output cat")


def test_an_archive_runs_where_it_was_unpacked(fresh):
    """There is no compiler and no file of the package."""
    fresh.run("dpkg --purge ebb")
    fresh.run("rm -rf /opt/ebb; mkdir /opt/ebb")
    fresh.run("tar --extract --file /run/host/ebb.tar.gz --directory /opt/ebb --strip-components 1")
    serve = "/opt/ebb/bin/ebb serve --data-dir /tmp/archive"
    fresh.run(f"{serve} >/tmp/archive.log 2>&1 & echo $! >/tmp/pid")
    up = "/opt/ebb/bin/ebb admin status | grep -qx 'status: ok'"
    fresh.until(lambda: fresh.run(up, check=False).returncode == 0, "the server of the archive")
    fresh.run("kill $(cat /tmp/pid)")
    fresh.until(lambda: not processes(fresh), "its end")


def test_completions_and_pages_are_where_they_are_looked_for(fresh):
    at = "/usr/share/bash-completion/completions/ebb"
    assert "-F _ebb" in fresh.says(f"bash -c '. {at}; complete -p ebb'")
    page = fresh.says("gzip -dc /usr/share/man/man1/ebb-serve.1.gz")
    assert page.count("--data") + page.count(r"\-\-data") >= 1


def test_the_unit_gives_next_to_no_rights(fresh):
    """systemd's exposure level, out of 10; the rest is network access and readable files."""
    unit_file = "/usr/lib/systemd/system/ebb.service"
    said = fresh.says(f"systemd-analyze security --offline=true --threshold=15 {unit_file}")
    assert "Overall exposure level for ebb.service: 1.4 OK" in said
