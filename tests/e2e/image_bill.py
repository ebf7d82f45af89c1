#!/usr/bin/env python3
"""image_bill.py BILL ROOT: the bill of materials names every library and program of the image."""

import hashlib
import json
import os
import subprocess
import sys

COMPILED_IN = {"nlohmann-json3-dev", "rapidjson-dev", "libcli11-dev"}


def owner(path):
    """The Debian package of a library, which may be listed under / or under /usr."""
    for name in (path, "/usr" + path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", os.path.realpath(name), name],
                               capture_output=True, text=True, check=False).stdout
        if found:
            return found.split(":")[0]
    raise SystemExit(f"image_bill.py: {path} is of no package")


def main():
    bill, root = sys.argv[1:]
    with open(bill, encoding="utf-8") as file:
        document = json.load(file)
    assert document["spdxVersion"] == "SPDX-2.3"
    packages = {one["name"]: one for one in document["packages"]}
    libraries = {os.path.join(folder, name)[len(root):]
                 for folder, _, names in os.walk(f"{root}/usr")
                 for name in names if ".so" in name}
    assert len(libraries) > 20, libraries
    for library in libraries:
        assert owner(library) in packages, f"{library}: {owner(library)} is not in the bill"
    assert COMPILED_IN <= set(packages), COMPILED_IN - set(packages)
    for name, one in packages.items():
        if name != "weft-operator":
            shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], check=True,
                                   capture_output=True, text=True).stdout
            assert one["versionInfo"] == shown, name
            assert one["externalRefs"][0]["referenceLocator"].startswith("pkg:deb/"), name
    for one in document["files"]:
        with open(os.path.join(root, one["fileName"]), "rb") as file:
            content = file.read()
        sums = {check["algorithm"]: check["checksumValue"] for check in one["checksums"]}
        assert sums["SHA256"] == hashlib.sha256(content).hexdigest(), one["fileName"]
    assert {one["fileName"] for one in document["files"]} == {
        "./usr/bin/weft", "./usr/bin/weft-operator"}
    print(f"{len(libraries)} libraries of {len(packages) - 1} packages")


if __name__ == "__main__":
    main()
