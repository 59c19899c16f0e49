"""The parts that the binary `ebb` is made of, as CycloneDX: the crates that are linked into it, and
the packages of npm that its portal is built of. What only builds or tests use is not among them:
macros, build scripts, tools.

It asks cargo and npm what their lock files say, and no network. The same sources give the same
bytes: there is no time in them, and the serial number comes from the content.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tomllib
import uuid

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import (
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    Property,
    XsUri,
)
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = "x86_64-unknown-linux-gnu"
#: The package of the binary, and the one that holds the built portal.
BINARY, PORTAL = "ebb", "portal"


def printed(*command, folder=ROOT):
    """What a command prints; one that fails has said why on standard error."""
    ran = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        what = " ".join(command[:2])
        sys.exit(f"{what} failed; crates that are not there yet come by `cargo fetch --locked`")
    return ran.stdout


def crates(target):
    """What is linked into the binary, as (name, version), and what each of them depends on."""
    only = ["--package", BINARY, "--edges", "normal,no-proc-macro", "--target", target]
    shape = ["--prefix", "depth", "--format", "|{p}"]
    lines = printed("cargo", "tree", "--locked", "--offline", *only, *shape).splitlines()
    edges, above = {}, []
    for line in lines:
        depth, text = line.split("|", 1)
        name, version = text.split()[:2]
        crate = (name, version.removeprefix("v"))
        edges.setdefault(crate, set())
        # A crate that was shown before stands there without what it depends on.
        del above[int(depth) :]
        if above:
            edges[above[-1]].add(crate)
        above.append(crate)
    return edges


def checksums():
    """The SHA-256 of each crate that comes from the registry."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return {(it["name"], it["version"]): it["checksum"] for it in lock if "checksum" in it}


def about_crates(target):
    """What the manifest of each crate says of it."""
    options = ["--locked", "--offline", "--format-version", "1", "--filter-platform", target]
    packages = json.loads(printed("cargo", "metadata", *options))["packages"]
    return {(it["name"], it["version"]): it for it in packages}


def component_of(crate, about, checksum):
    name, version = crate
    # Manifests used to write alternatives with a slash.
    licence = LicenseFactory().make_from_string(about["license"].replace("/", " OR "))
    purl = PackageURL("cargo", name=name, version=version)
    made = Component(
        type=ComponentType.APPLICATION if name == BINARY else ComponentType.LIBRARY,
        name=name,
        version=version,
        bom_ref=str(purl),
        purl=purl,
        description=about["description"],
        scope=ComponentScope.REQUIRED,
        licenses=[licence],
    )
    if checksum:
        made.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=checksum))
    if about["repository"]:
        made.external_references.add(
            ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(about["repository"]))
        )
    return made


def packages_of_portal():
    """What npm says of the portal: its own list, without what only builds it."""
    options = ["--omit", "dev", "--package-lock-only", "--sbom-format", "cyclonedx"]
    text = printed("npm", "sbom", *options, "--sbom-type", "application", folder=ROOT / "web")
    document = json.loads(text)
    document["metadata"]["component"]["name"] = "ebb-portal"
    # As crates are called: by what names a package in all the world.
    all_of_it = [document["metadata"]["component"], *document["components"]]
    purls = {component["bom-ref"]: component["purl"] for component in all_of_it}
    for component in all_of_it:
        component["bom-ref"] = component["purl"]
    for dependency in document["dependencies"]:
        dependency["ref"] = purls[dependency["ref"]]
        dependency["dependsOn"] = [purls[ref] for ref in dependency["dependsOn"]]
    found = Bom.from_json(document)
    return found.metadata.component, found


def list_of_parts(target):
    """All parts, and who depends on whom."""
    edges, about, sums = crates(target), about_crates(target), checksums()
    made = {crate: component_of(crate, about[crate], sums.get(crate)) for crate in edges}
    bom = Bom()
    portal, packages = packages_of_portal()
    for crate, component in made.items():
        depends = [made[other] for other in edges[crate]]
        if crate[0] == BINARY:
            bom.metadata.component = component
        else:
            bom.components.add(component)
        if crate[0] == PORTAL:
            depends.append(portal)
        bom.register_dependency(component, depends)
    bom.metadata.properties.add(Property(name="ebb:target", value=target))
    bom.components.update([portal, *packages.components])
    bom.dependencies.update(packages.dependencies)
    return bom


def text_of(bom):
    """The document: without a time, and with a number that its content gives."""
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    for volatile in ("serialNumber", "timestamp"):
        document.pop(volatile, None)
        document["metadata"].pop(volatile, None)
    content = json.dumps(document, sort_keys=True)
    document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_OID, content).urn
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def what_is_wrong(text):
    """Why a text is no CycloneDX; `None`: it is."""
    return JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default=TARGET, help="for which kind of machine it is built")
    parser.add_argument("output", type=pathlib.Path, help="the file to write")
    typed = parser.parse_args()
    text = text_of(list_of_parts(typed.target))
    if wrong := what_is_wrong(text):
        sys.exit(f"what was made is not CycloneDX 1.6: {wrong}")
    typed.output.parent.mkdir(parents=True, exist_ok=True)
    typed.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
