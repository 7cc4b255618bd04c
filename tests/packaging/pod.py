"""statefulset.yaml: each field against the schema that Kubernetes publishes,
as Debian's python3-kubernetes has it, and the pod that it describes, run by
podman with its rights, its volumes, its probes and what it does before TERM.

SPDX-License-Identifier: ISC
"""
import copy
import os
import re
import shutil
import subprocess
import time

import yaml
from kubernetes.client import models

from box import HOME, USER, Fault, dovecot_start, dovecot_stop, until
from step import step

FILE = f"{HOME}/conf/statefulset.yaml"
PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float),
         "object": object, "datetime": str}


def documents():
    with open(FILE, encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def stateful_set():
    [found] = [row for row in documents() if row["kind"] == "StatefulSet"]
    return found


def checked(kind, value, path):
    """The value as the schema's own class; Fault, with its path, if a field
    is unknown, missing, or of another type."""
    listed = re.fullmatch(r"list\[(.*)\]", kind)
    named = re.fullmatch(r"dict\(str, (.*)\)", kind)
    if listed:
        if not isinstance(value, list):
            raise Fault(f"{path} is no list")
        return [checked(listed.group(1), row, f"{path}[{number}]")
                for number, row in enumerate(value)]
    if named:
        if not isinstance(value, dict):
            raise Fault(f"{path} has no names")
        return {key: checked(named.group(1), row, f"{path}.{key}")
                for key, row in value.items()}
    if kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or \
                kind == "int" and isinstance(value, bool):
            raise Fault(f"{path} is no {kind}: {value!r}")
        return value
    return model(getattr(models, kind), value, path)


def model(form, value, path):
    if not isinstance(value, dict):
        raise Fault(f"{path} has no fields")
    names = {name: word for word, name in form.attribute_map.items()}
    for key in value:
        if key not in names:
            raise Fault(f"{path}.{key}: {form.__name__} has no such field")
    fields = {names[key]: checked(form.openapi_types[names[key]], row,
                                  f"{path}.{key}")
              for key, row in value.items()}
    try:
        return form(**fields)
    except ValueError as error:
        raise Fault(f"{path}: {error}") from None


def document_checked(row):
    group, _, version = row["apiVersion"].rpartition("/")
    return checked(f"{version.capitalize()}{row['kind']}", row, row["kind"])


# Each: the path to a field, what it becomes, and a word of the complaint.
WRONG = (
    (("spec", "template", "spec", "terminationGracePeriod"), 3, "no such"),
    (("spec", "replicas"), "one", "no int"),
    (("spec", "serviceName"), None, "service_name"),
    (("spec", "template", "spec", "containers"), {}, "no list"),
)


@step("every field of statefulset.yaml is in the schema of Kubernetes, and "
      "what it names is there")
def schema_of_kubernetes(box):
    for row in documents():
        document_checked(row)
    for path, value, word in WRONG:
        row = copy.deepcopy(stateful_set())
        at = row
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        if value is None:
            del at[path[-1]]
        try:
            document_checked(row)
        except Fault as error:
            if word not in str(error):
                raise Fault(f"{path}: {error}") from None
            continue
        raise Fault(f"{path} may be {value!r}")
    return names_are_there(stateful_set()["spec"])


def names_are_there(spec):
    """What the schema cannot say: one part names another."""
    pod = spec["template"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    if spec["selector"]["matchLabels"].items() - labels.items():
        raise Fault("the selector selects other pods")
    services = [row for row in documents() if row["kind"] == "Service"]
    if [row["metadata"]["name"] for row in services] != \
            [spec["serviceName"]] or \
            services[0]["spec"]["selector"] != labels:
        raise Fault(f"there is no service {spec['serviceName']} of them")
    volumes = {row["name"] for row in pod["volumes"]} | \
        {row["metadata"]["name"] for row in spec["volumeClaimTemplates"]}
    mounts = {row["name"] for row in container()["volumeMounts"]}
    if mounts != volumes:
        raise Fault(f"volumes {volumes}, mounted {mounts}")
    ports(container())[container()["readinessProbe"]["tcpSocket"]["port"]]
    return f"{len(documents())} documents, {len(WRONG)} wrong ones refused"


def container():
    [found] = stateful_set()["spec"]["template"]["spec"]["containers"]
    return found


def ports(row):
    return {port["name"]: port["containerPort"] for port in row["ports"]}


def configured():
    """What the ConfigMap would hold: the example's files, for a pod that has
    neither rspamd nor Dovecot's logins."""
    where = f"{HOME}/pod"
    os.makedirs(f"{where}/conf")
    os.makedirs(f"{where}/mail")
    for name in ("people", "aliases"):
        shutil.copy(f"{HOME}/conf/{name}", f"{where}/conf")
    with open(f"{HOME}/conf/zmailer.conf", encoding="utf-8") as file:
        text = re.sub(r"^(milter|auth) .*\n", "", file.read(), flags=re.M)
    with open(f"{where}/conf/zmailer.conf", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["chown", "-R", USER, where], check=True)
    return where


def options(where):
    """What the container says of itself, as options of podman run."""
    row = container()
    rights = row["securityContext"]
    words = ["--network", "none", "--cgroups", "disabled",
             "--hostname", "zmailer-0.zmailer"]
    words += ["--read-only"] if rights["readOnlyRootFilesystem"] else []
    if not rights["allowPrivilegeEscalation"]:
        words += ["--security-opt", "no-new-privileges"]
    words += [f"--cap-drop={name}" for name in rights["capabilities"]["drop"]]
    words += [f"--cap-add={name}" for name in rights["capabilities"]["add"]]
    volumes = {volume["name"]: volume for volume in
               stateful_set()["spec"]["template"]["spec"]["volumes"]}
    for mount in row["volumeMounts"]:
        volume = volumes.get(mount["name"], {})
        path = mount["mountPath"]
        if "emptyDir" in volume:
            words.append(f"--tmpfs={path}")
        else:
            words.append(f"--volume={where}/{mount['name']}:{path}" +
                         (":ro" if "configMap" in volume else ""))
    return [*words, f"--volume={HOME}/sockets:/sockets"]


def start(box, where):
    box.podman("rm", "-f", "mx")
    box.says("run", "-d", "--name", "mx", *options(where),
             container()["image"])
    port = ports(container())["smtp"]
    until("the pod is ready", lambda: box.podman("exec", "mx", "zmailer",
                                                 "status")[0] < 2)
    box.speak(f"import socket\n"
              f"socket.create_connection(('127.0.0.1', {port}), 60)\n")


@step("the pod runs with the rights of statefulset.yaml, ready and alive")
def pod_runs(box):
    box.pod = configured()
    start(box, box.pod)
    alive = container()["livenessProbe"]["exec"]["command"]
    began = time.monotonic()
    box.says("exec", "mx", *alive)
    took = time.monotonic() - began
    if took > container()["livenessProbe"]["timeoutSeconds"]:
        raise Fault(f"the probe takes {took:.1f} s")
    box.send("to the pod")
    box.await_mail("to the pod")
    code, said = box.podman("exec", "mx", "touch", "/usr/x")
    if code == 0:
        raise Fault("/ can be written")
    return f"alive after {took:.1f} s; {said}"


@step("before TERM what waits is tried once more; TERM ends it in good order, "
      "and what still waits goes on in the next pod of this volume")
def pod_drains(box):
    spec = stateful_set()["spec"]["template"]["spec"]
    grace = spec["terminationGracePeriodSeconds"]
    dovecot_stop()
    box.send("it waits in the pod")
    until("it waits", lambda: "anna@example.org" in box.says(
        "exec", "mx", "zmailer", "list"))
    dovecot_start()
    began = time.monotonic()
    box.says("exec", "mx", *container()["lifecycle"]["preStop"]["exec"][
        "command"])
    box.await_mail("it waits in the pod")
    before = time.monotonic() - began
    box.says("stop", "-t", str(grace), "mx", seconds=grace + 60)
    took = time.monotonic() - began
    code = box.says("inspect", "-f", "{{.State.ExitCode}}", "mx").strip()
    if code != "0" or took > grace:
        raise Fault(f"exit {code} after {took:.1f} s")
    start(box, box.pod)
    said = box.says("exec", "mx", "zmailer", "fsck")
    box.podman("rm", "-f", "mx")
    return f"drained in {before:.1f} s, ended after {took:.1f} s: {said}"


