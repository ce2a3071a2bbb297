#!/usr/bin/env python3
"""Holds the Helm chart against Helm, the schemas of Kubernetes and hookswitch itself. Run by scripts/chart.

Helm's own engine renders and lints it (helm_python). kubernetes_validate has the schemas of Kubernetes, without those of a ServiceMonitor.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import kubernetes_validate
import yaml
from helm_python import chart as helm
from helm_python.errors import HelmError

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "Configs/helm/hookswitch"
VERSIONS = ["1.25", "1.37"]

# Values beside the defaults, and what has to be there with them.
CASES = {
    "defaults": {},
    "three gateways with everything": {
        "replicas": 3, "drain": 300, "preStop": 10, "advertise": "203.0.113.5",
        "database": {"url": "postgres://hookswitch@db/hookswitch?sslmode=require", "passwordKey": "database-password"},
        "secrets": {"values": {"database-password": "a", "line-1001": "b"}},
        "configuration": {"drain": 5, "lines": [{"number": "1001", "password-file": "/run/secrets/hookswitch/line-1001"}]},
        "service": {"type": "LoadBalancer", "annotations": {"a/b": "c"}, "loadBalancerIP": "203.0.113.5", "loadBalancerSourceRanges": ["192.0.2.0/24"]},
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}, "dashboard": {"enabled": True},
        "image": {"repository": "registry.test/hookswitch", "tag": "x", "pullSecrets": [{"name": "registry"}]},
        "persistence": {"storageClass": "fast"}, "nodeSelector": {"voip": "yes"}, "tolerations": [{"key": "voip", "operator": "Exists"}],
        "priorityClassName": "high", "podLabels": {"a": "b"}, "podAnnotations": {"c": "d"},
    },
    "pods' own network": {
        "hostNetwork": False, "advertise": "none", "preStop": 0, "service": {"type": "ClusterIP"}, "persistence": {"enabled": False},
        "podDisruptionBudget": {"enabled": False}, "secrets": {"existing": "theirs"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}},
    },
    "node ports": {"service": {"type": "NodePort"}, "ports": [{"name": "sips", "port": 5061, "protocol": "TCP"}]},
}
REFUSED = {
    "several replicas without a database": {"replicas": 2},
    "a value that there is not": {"replica": 2},
    "a port without a protocol": {"ports": [{"name": "sip", "port": 5060}]},
    "a database that is none": {"database": {"url": "mysql://db"}},
}

failures = []


def expect(condition, words):
    if not condition:
        failures.append(words)
        print(f"FAILED: {words}", file=sys.stderr)


def documents(rendered):
    return [document for name, text in rendered.items() if not name.endswith(".txt") for document in yaml.safe_load_all(text) if document]


def find(objects, kind, suffix=""):
    found = [one for one in objects if one["kind"] == kind and one["metadata"]["name"].endswith(suffix)]
    return found[0] if len(found) == 1 else None


def check_schemas(objects, case):
    for one in objects:
        if one["kind"] == "ServiceMonitor":
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(one, version, strict=True)
            except Exception as error:  # its kinds of errors are several
                expect(False, f"{case}: {one['kind']} in Kubernetes {version}: {error}")


def check_names(objects, case):
    """Everything refers to something that is there."""
    pods = find(objects, "StatefulSet")["spec"]
    labels = pods["template"]["metadata"]["labels"]
    matches = lambda selector: selector.items() <= labels.items()
    expect(matches(pods["selector"]["matchLabels"]), f"{case}: the StatefulSet finds its pods")
    expect(find(objects, "Service", pods["serviceName"]) is not None, f"{case}: the StatefulSet's Service is there")
    container = pods["template"]["spec"]["containers"][0]
    ports = {port["name"] for port in container["ports"]}
    for service in (one for one in objects if one["kind"] == "Service"):
        expect(matches(service["spec"]["selector"]), f"{case}: {service['metadata']['name']} finds the pods")
        expect({port["targetPort"] for port in service["spec"]["ports"]} <= ports, f"{case}: {service['metadata']['name']} has ports of the pods")
    for budget in (one for one in objects if one["kind"] == "PodDisruptionBudget"):
        expect(matches(budget["spec"]["selector"]["matchLabels"]), f"{case}: the budget finds the pods")
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        expect(container[probe]["httpGet"]["port"] in ports, f"{case}: {probe} asks a port of the pod")
    volumes = {volume["name"] for volume in pods["template"]["spec"]["volumes"]} | {claim["metadata"]["name"] for claim in pods.get("volumeClaimTemplates", [])}
    expect({mount["name"] for mount in container["volumeMounts"]} == volumes, f"{case}: each volume is mounted")
    for monitor in (one for one in objects if one["kind"] == "ServiceMonitor"):
        wanted = monitor["spec"]["selector"]["matchLabels"]
        found = [one for one in objects if one["kind"] == "Service" and wanted.items() <= one["metadata"]["labels"].items()]
        expect(len(found) == 1, f"{case}: the ServiceMonitor finds one Service")
        names = {port["name"] for service in found for port in service["spec"]["ports"]}
        expect({endpoint["port"] for endpoint in monitor["spec"]["endpoints"]} <= names, f"{case}: the ServiceMonitor has a port of it")


def check_everything(objects):
    case = "three gateways with everything"
    spec = find(objects, "StatefulSet")["spec"]
    pod = spec["template"]["spec"]
    settings = yaml.safe_load(find(objects, "ConfigMap", "hookswitch")["data"]["hookswitch.yaml"])
    expect(spec["replicas"] == 3 and pod["hostNetwork"] is True and pod["enableServiceLinks"] is False, f"{case}: pods")
    expect(pod["terminationGracePeriodSeconds"] == 325 and settings["drain"] == 300, f"{case}: a pod has time to drain")
    expect(settings["data"] == ["/data", "postgres://hookswitch@db/hookswitch?sslmode=require"], f"{case}: data")
    expect(settings["data-password-file"] == "/run/secrets/hookswitch/database-password", f"{case}: password of the database")
    expect(find(objects, "Secret")["stringData"] == {"database-password": "a", "line-1001": "b"}, f"{case}: secrets")
    dashboard = find(objects, "ConfigMap", "-dashboard")
    expect(dashboard["metadata"]["labels"].get("grafana_dashboard") == "1", f"{case}: the dashboard's label")
    expect(yaml.safe_load(dashboard["data"]["hookswitch.json"]) == yaml.safe_load((ROOT / "Configs/grafana-dashboard.json").read_text()), f"{case}: the dashboard")
    expect({one["kind"] for one in objects} == {"ConfigMap", "PodDisruptionBudget", "Secret", "Service", "ServiceMonitor", "StatefulSet"}, f"{case}: kinds")


def check_configuration(objects, case, binary):
    """hookswitch takes the configuration, and the variables of the pod."""
    text = find(objects, "ConfigMap", "hookswitch")["data"]["hookswitch.yaml"]
    container = find(objects, "StatefulSet")["spec"]["template"]["spec"]["containers"][0]
    fields = {"metadata.name": "hookswitch-0", "status.podIP": "203.0.113.9"}
    variables = {one["name"]: one.get("value") or fields[one["valueFrom"]["fieldRef"]["fieldPath"]] for one in container["env"]}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("database-password", "line-1001"):
            pathlib.Path(folder, name).write_text("secret\n")
            pathlib.Path(folder, name).chmod(0o600)
        text = re.sub(r"(?m) /data$", f" {folder}/data", text.replace("/run/secrets/hookswitch", folder))
        file = pathlib.Path(folder, "hookswitch.yaml")
        file.write_text(text)
        result = subprocess.run(
            [binary, "check", "--config", file], env={"PATH": os.environ["PATH"], **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    expect(result.returncode == 0, f"{case}: hookswitch check ends with {result.returncode}: {result.stdout}{result.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", help="a hookswitch that is to take the configurations")
    arguments = parser.parse_args()
    chart = helm.Chart.load(str(CHART))
    source = (ROOT / "Sources/Tools/hookswitch/Hookswitch.swift").read_text()
    version = re.search(r'static let version = "([^"]+)"', source).group(1)
    expect(chart.metadata["appVersion"] == version == chart.version, f"the chart is of version {version}")
    for case, values in CASES.items():
        report = helm.lint(str(CHART), values, strict=True)
        bad = [message for message in report["messages"] if message["severity"] >= 2]
        expect(not report["errors"] and not bad, f"{case}: lint says {report['errors']} {bad}")
        rendered = chart.render(values, name="voip-hookswitch", namespace="voip")
        objects = documents(rendered)
        check_schemas(objects, case)
        check_names(objects, case)
        if case == "three gateways with everything":
            check_everything(objects)
        if arguments.binary:
            check_configuration(objects, case, arguments.binary)
    # Agents of 'hookswitch load', which the chart has no part in.
    check_schemas(list(yaml.safe_load_all((ROOT / "Configs/kubernetes/load-agents.yaml").read_text())), "load-agents.yaml")
    for case, values in REFUSED.items():
        try:
            chart.validate_schema(values)
            chart.render(values, name="voip", namespace="voip")
            expect(False, f"{case} is refused")
        except HelmError:
            pass
    print(f"chart: {len(CASES)} sets of values rendered, {len(REFUSED)} refused, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
