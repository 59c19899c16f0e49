"""The list of parts has what is in the binary and nothing else, is CycloneDX, and is the same each
time and at each place."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest
import sbom


@pytest.fixture(scope="module")
def text():
    return sbom.text_of(sbom.list_of_parts(sbom.TARGET))


@pytest.fixture(scope="module")
def document(text):
    return json.loads(text)


@pytest.fixture(scope="module")
def purls(document):
    return {part["purl"] for part in document["components"]}


def test_it_is_cyclonedx(text, document):
    assert sbom.what_is_wrong(text) is None
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["name"] == "ebb"


def test_of_checks_the_schema_finds_what_is_wrong(document):
    broken = json.loads(json.dumps(document))
    broken["components"][0]["type"] = "something"
    assert sbom.what_is_wrong(json.dumps(broken)) is not None


def test_it_has_what_is_linked(purls):
    names = {purl.split("/", 1)[1].split("@")[0] for purl in purls if purl.startswith("pkg:cargo/")}
    assert {"server", "engine", "store", "tokio", "rustls", "zstd-sys", "libmimalloc-sys"} <= names


def test_it_has_what_the_portal_is_built_of(purls):
    lock = json.loads((sbom.ROOT / "web" / "package-lock.json").read_text())["packages"]
    wanted = {
        (path.rsplit("node_modules/", 1)[1].replace("@", "%40"), about["version"])
        for path, about in lock.items()
        if path and not any(about.get(why) for why in ("dev", "optional", "devOptional"))
    }
    assert wanted
    assert {f"pkg:npm/{name}@{version}" for name, version in wanted} <= purls


@pytest.mark.parametrize(
    "name",
    [
        *("pkg:cargo/test-kit", "pkg:cargo/test-server", "pkg:cargo/sim", "pkg:cargo/bench"),
        "pkg:cargo/quinn",  # the lock file has it, for features that are off
        *("pkg:cargo/cc", "pkg:cargo/serde_derive", "pkg:cargo/syn"),
        *("pkg:npm/vite", "pkg:npm/vitest", "pkg:npm/typescript"),
    ],
)
def test_it_has_nothing_that_only_builds_or_tests(purls, name):
    assert not [purl for purl in purls if purl.startswith(f"{name}@")]


def test_each_part_says_what_it_is(document):
    for part in document["components"]:
        assert part["licenses"], part["name"]
        # What is not ours came through a lock file, with a checksum.
        ours = part["version"] == document["metadata"]["component"]["version"]
        assert part.get("hashes") or ours, part["name"]


def test_everything_is_there_because_something_needs_it(document):
    needs = {it["ref"]: it.get("dependsOn", []) for it in document["dependencies"]}
    seen, left = set(), [document["metadata"]["component"]["bom-ref"]]
    while left:
        part = left.pop()
        if part not in seen:
            seen.add(part)
            left += needs[part]
    assert seen - {document["metadata"]["component"]["bom-ref"]} == {
        part["bom-ref"] for part in document["components"]
    }


def test_it_is_the_same_at_another_place(text, tmp_path):
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=sbom.ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for name in filter(None, tracked.split("\0")):
        to = tmp_path / "clone" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sbom.ROOT / name, to)
    folder = tmp_path / "clone" / pathlib.Path(sbom.__file__).parent.relative_to(sbom.ROOT)
    make = "import sbom; print(sbom.text_of(sbom.list_of_parts(sbom.TARGET)), end='')"
    run = [sys.executable, "-c", make]
    made = subprocess.run(run, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert made == text
