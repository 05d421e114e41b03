# SPDX-License-Identifier: BSD-3-Clause
"""passenger_wsgi - an app of Open OnDemand: the pages of the user's own jobs, which `spoor report --jobs` makes

It runs as the user, in the user's own nginx, and reads what the user may read.
"""
import os
import re
import subprocess

PAGES = os.path.expanduser("~/.cache/spoor/pages")


def application(environ, start_response):
    name = environ.get("PATH_INFO", "").lstrip("/") or "index.html"
    if not environ.get("PATH_INFO"):
        start_response("301 Moved Permanently", [("Location", environ.get("SCRIPT_NAME", "") + "/")])
        return []
    try:
        if name == "index.html":
            os.makedirs(os.path.dirname(PAGES), 0o700, exist_ok=True)
            subprocess.run(["spoor", "report", "--jobs", PAGES], check=True, timeout=300)
        if not re.fullmatch(r"[0-9A-Za-z]+[0-9A-Za-z.]*\.html", name):
            raise FileNotFoundError(name)
        with open(os.path.join(PAGES, name), "rb") as page:
            body = page.read()
    except FileNotFoundError:
        start_response("404 Not Found", [("Content-Type", "text/plain")])
        return [b"There is no such page.\n"]
    except (OSError, subprocess.SubprocessError):
        start_response("500 Internal Server Error", [("Content-Type", "text/plain")])
        return [b"The pages cannot be made: spoor report --jobs DIR says why.\n"]
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
    return [body]
