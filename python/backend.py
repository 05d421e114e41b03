# SPDX-License-Identifier: BSD-3-Clause
"""Makes the wheel: the package is Python alone, so that pip needs nothing from anywhere (PEP 517)."""
import base64
import hashlib
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def _setting(name, file="pyproject.toml"):
    with open(os.path.join(HERE, file), encoding="utf-8") as f:
        return re.search(rf'^{name} = "(.*)"$', f.read(), re.MULTILINE)[1]


def _version():
    return _setting("__version__", "spoor/__init__.py")


def _contents():
    """The files of the wheel: (name, bytes)."""
    package = os.path.join(HERE, "spoor")
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".typed")):
            with open(os.path.join(package, name), "rb") as f:
                yield f"spoor/{name}", f.read()
    info = f"spoor-{_version()}.dist-info"
    yield f"{info}/METADATA", (f"Metadata-Version: 2.1\nName: spoor\nVersion: {_version()}\n"
                               f"Summary: {_setting('description')}\nRequires-Python: {_setting('requires-python')}\n"
                               "License: BSD-3-Clause\nRequires-Dist: numpy\n").encode()
    yield f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: spoor\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"spoor-{_version()}-py3-none-any.whl"
    record = ""
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in _contents():
            wheel.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            record += f"{path},sha256={digest},{len(data)}\n"
        at = f"spoor-{_version()}.dist-info/RECORD"
        wheel.writestr(at, record + f"{at},,\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the package is a part of spoor's sources")
