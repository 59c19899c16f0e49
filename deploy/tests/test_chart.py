"""The Helm chart: helm renders it for different values, and Kubernetes takes what comes of it."""

import io
import os
import pathlib
import subprocess
import tomllib

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

ROOT = pathlib.Path(__file__).parents[2]
CHART = ROOT / "deploy/helm"
HELM = os.environ["HELM"]
#: The oldest Kubernetes that the chart says it is for, and a newer one.
KUBERNETES = ("1.27", "1.34")
PLAIN = ["mongo.rootSecret=ebb-root"]
EVERYTHING = [
    *PLAIN,
    *("nosql.keySecret=ebb-keys", "tls.secret=ebb-tls", "storage.className=fast"),
    *("pullSecrets[0].name=registry", "env.EBB_LOG_LEVEL=debug", "env.EBB_SLOW_MS=50"),
    *("podAnnotations.a=b", "podLabels.c=d", "service.annotations.e=f", "nodeSelector.disk=fast"),
    *("tolerations[0].key=db", "tolerations[0].operator=Exists", "priorityClassName=high"),
]
VALUES = {"plain": PLAIN, "no logins": ["mongo.noAuth=true"], "everything": EVERYTHING}


def helm(*arguments):
    return subprocess.run([HELM, *arguments], capture_output=True, text=True)


def settings(values):
    return [part for value in values for part in ("--set", value)]


def rendered(values, name="ebb"):
    """The objects of a release by kind."""
    ran = helm("template", name, CHART, "--namespace", "data", *settings(values))
    assert ran.returncode == 0, ran.stderr
    found = YAML(typ="safe").load_all(io.StringIO(ran.stdout))
    return {it["kind"]: it for it in found if it}


def pod(objects):
    return objects["StatefulSet"]["spec"]["template"]["spec"]


def variables(objects):
    return {it["name"]: it["value"] for it in pod(objects)["containers"][0]["env"]}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_helm_finds_no_mistake(values):
    ran = helm("lint", "--strict", CHART, *settings(values))
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_kubernetes_knows_every_field(values, version):
    objects = rendered(values)
    assert set(objects) == {"StatefulSet", "Service"}
    for it in objects.values():
        kubernetes_validate.validate(it, version, strict=True)


def test_of_checks_a_field_that_does_not_exist_is_found():
    service = rendered(PLAIN)["Service"]
    service["spec"]["noSuchField"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(service, KUBERNETES[0], strict=True)


def test_without_a_login_it_is_refused_with_what_to_do():
    ran = helm("template", "ebb", CHART)
    assert ran.returncode != 0
    assert "mongo.rootSecret: name a Secret with the first user's password" in ran.stderr


def test_the_pod_has_no_rights_that_it_does_not_need():
    spec = pod(rendered(EVERYTHING))
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsUser"] == 65532, "the user of the image"
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_secrets_are_files_that_only_the_pod_reads():
    volumes = {it["name"]: it["secret"] for it in pod(rendered(EVERYTHING))["volumes"]}
    assert {name: it["secretName"] for name, it in volumes.items()} == {
        "root": "ebb-root",
        "keys": "ebb-keys",
        "tls": "ebb-tls",
    }
    assert {it["defaultMode"] for it in volumes.values()} == {0o440}
    found = variables(rendered(EVERYTHING))
    mounts = {
        it["name"]: it["mountPath"]
        for it in pod(rendered(EVERYTHING))["containers"][0]["volumeMounts"]
    }
    assert found["EBB_ROOT_PASSWORD_FILE"] == f"{mounts['root']}/password"
    assert found["EBB_KEY_FILE"] == f"{mounts['keys']}/keys"
    assert found["EBB_TLS_CERT"] == f"{mounts['tls']}/tls.crt"
    assert found["EBB_DATA_DIR"].startswith(f"{mounts['data']}/")


def test_values_arrive_where_they_are_for():
    found = variables(rendered(EVERYTHING))
    assert found["EBB_LOG_LEVEL"] == "debug"
    assert found["EBB_SLOW_MS"] == "50", "a number is a text there"
    assert found["EBB_MONGO_TLS"] == "require"
    claim = rendered(EVERYTHING)["StatefulSet"]["spec"]["volumeClaimTemplates"][0]["spec"]
    assert claim["storageClassName"] == "fast"
    assert "EBB_MONGO_NO_AUTH" not in found
    assert "EBB_ROOT_USER" not in variables(rendered(VALUES["no logins"]))
    assert "volumes" not in pod(rendered(VALUES["no logins"]))


@pytest.mark.parametrize(
    ("release", "name"), [("ebb", "ebb"), ("shop", "shop-ebb"), ("x" * 53, f"{'x' * 48}-ebb")]
)
def test_names_fit_and_are_one_everywhere(release, name):
    objects = rendered(EVERYTHING, release)
    assert {it["metadata"]["name"] for it in objects.values()} == {name}
    assert objects["StatefulSet"]["spec"]["serviceName"] == name
    labels = objects["StatefulSet"]["spec"]["template"]["metadata"]["labels"]
    assert objects["Service"]["spec"]["selector"].items() <= labels.items()
    assert f"{name}.data.svc" in variables(objects)["EBB_ADMIN_HOST"].split(",")


def test_ports_of_the_service_are_those_of_the_container():
    for values, wanted in (
        (PLAIN, {"mongodb", "admin"}),
        (EVERYTHING, {"mongodb", "nosql", "admin"}),
    ):
        objects = rendered(values)
        ports = {it["name"] for it in pod(objects)["containers"][0]["ports"]}
        assert {it["targetPort"] for it in objects["Service"]["spec"]["ports"]} == ports == wanted


def test_the_version_is_that_of_the_server():
    chart = YAML(typ="safe").load((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert chart["version"] == chart["appVersion"] == version
    assert pod(rendered(PLAIN))["containers"][0]["image"] == f"ebb:{version}"
