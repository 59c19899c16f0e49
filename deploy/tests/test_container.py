"""The Dockerfile, the file for Compose and the workflow are what their formats say, and fit the
sources: paths, variables, versions, the user."""

import json
import pathlib
import re
import subprocess
import tomllib

import pytest
from ruamel.yaml import YAML

ROOT = pathlib.Path(__file__).parents[2]
DOCKERFILE = ROOT / "Dockerfile"
COMPOSE = ROOT / "deploy/compose.yaml"
WORKFLOW = ROOT / "deploy/github-actions.yml"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def ran(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def stages():
    """The instructions of the Dockerfile by stage, each as (word, rest)."""
    lines = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
    found = []
    for line in re.sub(r"\\\n", " ", lines).splitlines():
        if line.strip():
            word, rest = line.split(None, 1)
            if word == "FROM":
                found.append([])
            found[-1].append((word, " ".join(rest.split())))
    return found


def last(word):
    """What an instruction says in the stage that becomes the image; there is one of it."""
    (rest,) = [rest for each, rest in stages()[-1] if each == word]
    return rest


def yaml(path):
    return YAML(typ="safe").load(path.read_text())


def variables_of_the_image():
    return dict(pair.split("=", 1) for pair in last("ENV").split())


def test_the_dockerfile_has_no_known_mistakes():
    looked = ran("hadolint", "--no-color", "--strict-labels", DOCKERFILE)
    assert looked.returncode == 0, looked.stdout


def test_of_checks_the_linter_finds_a_mistake(tmp_path):
    wrong = tmp_path / "Dockerfile"
    wrong.write_text("FROM debian\nRUN sudo apt-get install curl\n")
    assert ran("hadolint", wrong).returncode == 1


def test_the_image_is_no_root_and_has_one_place_for_data():
    assert last("USER") == "65532:65532"
    assert last("VOLUME") == variables_of_the_image()["EBB_DATA_DIR"] == "/var/lib/ebb"
    copied = [rest for word, rest in stages()[-1] if word == "COPY"]
    assert "--from=build --chown=65532:65532 --chmod=700 /data /var/lib/ebb" in copied


def test_the_image_tells_its_health_and_ends_by_the_signal_of_the_server():
    assert last("STOPSIGNAL") == "SIGTERM"
    options, command = last("HEALTHCHECK").split(" CMD ")
    assert json.loads(command) == ["/usr/bin/ebb", "admin", "health"]
    assert "--start-period=15m" in options
    assert json.loads(last("ENTRYPOINT")) + json.loads(last("CMD")) == ["/usr/bin/ebb", "serve"]


def test_its_addresses_are_those_of_its_ports():
    wanted = {"EBB_MONGO_ADDR": "0.0.0.0:27017", "EBB_COSMOS_ADDR": "off"}
    assert variables_of_the_image().items() >= wanted.items()
    assert last("EXPOSE").split() == ["27017", "8081", "8080"]


def test_what_is_copied_is_there():
    """A path of the sources that .dockerignore leaves out would fail the build, or be old."""
    ignored = [line for line in (ROOT / ".dockerignore").read_text().split("\n") if line[:1] != "#"]
    for stage in stages():
        for word, rest in stage:
            if word == "COPY" and "--from" not in rest:
                for path in rest.split()[:-1]:
                    assert (ROOT / path).exists(), path
                    assert path not in ignored


def test_the_compiler_is_the_oldest_that_will_do():
    wanted = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    assert stages()[1][0][1].startswith(f"rust:{wanted['rust-version']}-")


@pytest.mark.parametrize(
    ("kind", "path"), [("compose-spec", COMPOSE), ("github-workflows", WORKFLOW)]
)
def test_each_file_is_what_its_schema_says(kind, path, tmp_path):
    check = ["check-jsonschema", "--builtin-schema", f"vendor.{kind}"]
    looked = ran(*check, path)
    assert looked.returncode == 0, looked.stdout
    wrong = tmp_path / path.name
    wrong.write_text(path.read_text() + "\nno-such-word: 1\n")
    assert ran(*check, wrong).returncode == 1


def test_the_service_of_compose_has_no_more_rights_than_it_needs():
    service = yaml(COMPOSE)["services"]["ebb"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["image"] == f"ebb:{VERSION}"
    assert service["volumes"] == [f"data:{last('VOLUME')}"]
    for port in service["ports"]:
        assert port.startswith("127.0.0.1:"), "it would be reached by other machines"


def test_variables_are_those_that_the_server_knows():
    """Each is a flag of the reference, or one of another system that is named there."""
    page = (ROOT / "docs/operations.md").read_text()
    files = (DOCKERFILE, COMPOSE, WORKFLOW, ROOT / "deploy/helm/templates/statefulset.yaml")
    set_there = r"\b((?:EBB|MONGO)_[A-Z_]+)(?==|:)|name: (EBB_[A-Z_]+)"
    names = {one or other for it in files for one, other in re.findall(set_there, it.read_text())}
    # Of those that run Compose and cargo, not of the server.
    names -= {"EBB_ROOT_PASSWORD", "EBB_PORTAL", "EBB_PORTAL_DIST"}
    assert names >= {"EBB_DATA_DIR", "EBB_MONGO_NO_AUTH", "MONGO_INITDB_ROOT_USERNAME"}
    for name in sorted(names):
        flag = "--" + name.removeprefix("EBB_").lower().replace("_", "-")
        assert f"`{name}`" in page or f"`{flag}" in page, name


def test_the_workflow_waits_until_the_server_is_ready():
    jobs = yaml(WORKFLOW)["jobs"]
    options = jobs["mongodb"]["services"]["ebb"]["options"]
    assert '--health-cmd "/usr/bin/ebb admin health"' in options
    assert "/readyz" in jobs["both"]["steps"][1]["run"]
    assert f"ebb-{VERSION}-x86_64-linux" in jobs["both"]["steps"][1]["run"]
