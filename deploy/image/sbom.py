#!/usr/bin/env python3
"""Writes what an image is made of, as SPDX 2.3 in JSON: Weft's programs, and the Debian packages that
its libraries and compiled-in headers are from.

Same packages and programs, same bytes: no time but SOURCE_DATE_EPOCH, and a namespace made of the
content. Source: The Software Package Data Exchange specification 2.3 (2022); package-url, type deb.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import urllib.parse

NOT_SAID = "NOASSERTION"
FORMAT = ("${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}"
          "\t${Homepage}\n")
IMAGE, DOCUMENT = "SPDXRef-Image", "SPDXRef-DOCUMENT"


def identifier(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(words))


def distribution():
    with open("/etc/os-release", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("=", 1) for line in file if "=" in line]
    about = {key: value.strip('"') for key, value in lines}
    return about["ID"], f"{about['ID']}-{about.get('VERSION_ID', 'unstable')}"


def debian_package(line, system):
    name, version, architecture, source, source_version, homepage = line.split("\t")
    vendor, release = system

    def locator(package, number, kind):
        return (f"pkg:deb/{vendor}/{urllib.parse.quote(package, safe='')}@"
                f"{urllib.parse.quote(number, safe='')}?arch={kind}&distro={release}")
    return {
        "SPDXID": identifier("Package", name),
        "name": name,
        "versionInfo": version,
        "supplier": "Organization: Debian" if vendor == "debian" else f"Organization: {vendor}",
        "downloadLocation": NOT_SAID,
        "homepage": homepage or NOT_SAID,
        "filesAnalyzed": False,
        "sourceInfo": f"built from {source} {source_version}",
        "licenseConcluded": NOT_SAID,
        "licenseDeclared": NOT_SAID,  # /usr/share/doc/NAME/copyright in the image has the terms
        "copyrightText": NOT_SAID,
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
             "referenceLocator": locator(name, version, architecture)},
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
             "referenceLocator": locator(source, source_version, "source")}],
    }


def program(rootfs, path):
    with open(os.path.join(rootfs, path), "rb") as file:
        content = file.read()
    return {
        "SPDXID": identifier("File", path),
        "fileName": f"./{path}",
        "fileTypes": ["BINARY"],
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
        "licenseConcluded": "Apache-2.0",
        "licenseInfoInFiles": [NOT_SAID],
        "copyrightText": NOT_SAID,
    }


def related(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def bill(arguments, time):
    described = subprocess.run(["dpkg-query", "-W", "-f", FORMAT, *arguments.packages], check=True,
                               capture_output=True, text=True).stdout if arguments.packages else ""
    system = distribution()
    packages = [debian_package(line, system) for line in sorted(set(described.splitlines()))]
    files = [program(arguments.rootfs, path) for path in sorted(arguments.programs)]
    image = {"SPDXID": IMAGE, "name": "weft-operator", "versionInfo": arguments.version,
             "downloadLocation": NOT_SAID, "filesAnalyzed": False,
             "primaryPackagePurpose": "CONTAINER", "licenseConcluded": "Apache-2.0",
             "licenseDeclared": "Apache-2.0", "copyrightText": NOT_SAID}
    relationships = [related(DOCUMENT, "DESCRIBES", one["SPDXID"]) for one in [image, *files]]
    relationships += [related(IMAGE, "CONTAINS", one["SPDXID"]) for one in packages]
    content = {"packages": [image, *packages], "files": files, "relationships": relationships}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": DOCUMENT,
        "name": f"weft-operator-{arguments.version}",
        "documentNamespace": f"https://weft.dev/spdx/weft-operator-{arguments.version}-{digest}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": [f"Tool: weft-deploy-image.sh-{arguments.version}"]},
        **content}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("rootfs", "version", "output"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--programs", nargs="+", required=True, help="paths below the rootfs")
    parser.add_argument("--packages", nargs="*", default=[], help="Debian's, that it has parts of")
    arguments = parser.parse_args()
    document = bill(arguments, int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    with open(arguments.output, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
