#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""man - makes the manual pages

    man.py commands SPOOR ADDED TO NAME...  makes TO/spoor-NAME.1 (NAME "-": spoor.1) from `SPOOR NAME --help`, and Markdown that is
                                         added, from ADDED/NAME.md (NAME "-": spoor.md)
    man.py page FILE.md NAME SECTION SUMMARY [WORD=FOLDER...]   NAME(SECTION) from a page of the documentation, in which
                                         each WORD (SYSCONFDIR) is replaced by the folder of this installation

A command's options are described in one place, its --help; what a page says more is in doc/man/. Of Markdown: headings, paragraphs, tables, lists,
indented examples, `code`, **bold**.
"""
import os
import re
import subprocess
import sys


def quote(text):
    """Text as it is, for the middle of a line."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def words(text):
    """Inline Markdown."""
    out = []
    for part in re.split(r"(`[^`]+`|\*\*[^*]+\*\*|\[[^]]+\]\([^)]+\))", text):
        if part.startswith("`") and len(part) > 1:
            out.append("\\fB" + quote(part[1:-1]) + "\\fR")
        elif part.startswith("**") and len(part) > 4:
            out.append("\\fB" + quote(part[2:-2]) + "\\fR")
        elif part.startswith("[") and "](" in part:
            out.append(quote(part[1:part.index("](")]))
        else:
            out.append(quote(part))
    text = "".join(out)
    return "\\&" + text if text[:1] in ".'" else text


def example(lines):
    return [".PP", ".RS 4", ".nf", *("\\&" + quote(line) for line in lines), ".fi", ".RE"]


def heading(text):
    return "\\fI" + words(text) + "\\fR" if text else ""


def table(rows):
    """A row is a tagged paragraph; the headings are the first one, in italics."""
    out = []
    headed = len(rows) > 1 and set(rows[1]) <= set("|-: ")
    for at, row in enumerate(rows[:1] + rows[2:] if headed else rows):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]
        form = heading if headed and at == 0 else words
        if not any(cells):
            continue
        out += [".TP", form(cells[0]) or "\\&", " \\(en ".join(form(cell) for cell in cells[1:]) or "\\&"]
    return out


def markdown(text):
    out, lines, at = [], text.expandtabs().splitlines(), 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            title = line.lstrip("# ").replace("`", "")
            out += [] if level == 1 else [(".SH " if level == 2 else ".SS ") + quote(title.upper() if level == 2 else title)]
        elif line.startswith("    "):
            while end < len(lines) and (lines[end].startswith("    ") or (not lines[end] and lines[end + 1:end + 2] and lines[end + 1].startswith("    "))):
                end += 1
            out += example([one[4:] for one in lines[at:end]])
        elif line.startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            out += table(lines[at:end])
        elif re.match(r"([-*]|\d+\.) ", line):
            while end < len(lines) and lines[end].startswith("  ") and lines[end].strip():
                end += 1
            mark, rest = line.split(" ", 1)
            out += [".IP " + ("\\(bu" if mark in "-*" else mark) + " 3", words(" ".join([rest] + [one.strip() for one in lines[at + 1:end]]))]
        elif line.strip():
            while end < len(lines) and lines[end].strip() and not re.match(r"#|\||    |[-*] |\d+\. ", lines[end]):
                end += 1
            out += [".PP", words(" ".join(one.strip() for one in lines[at:end]))]
        at = end
    return out


def head(name, section, summary):
    return [f'.\\" made by doc/man.py', f'.TH {quote(name.upper())} {section} "" "spoor" "spoor"', ".SH NAME", f"{quote(name)} \\- {quote(summary)}"]


def options(lines):
    """Lines of --help that say what options do: "  -x, --long ARG   what"; deeper lines go on."""
    out = []
    for line in lines:
        found = re.match(r"\s{1,8}(-.*?)(?:\s{2,}(.*))?$", line)
        if found:
            out += [".TP", "\\fB" + quote(found.group(1)) + "\\fR", quote(found.group(2) or "") or "\\&"]
        else:
            out.append(quote(line.strip()))
    return out


def from_help(text):
    """SYNOPSIS, DESCRIPTION and OPTIONS."""
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", text.strip("\n"))]
    first = blocks[0]
    n = 1
    while n < len(first) and (first[n].startswith("       ") or first[n].startswith("  spoor")):
        n += 1
    out = [".SH SYNOPSIS"]
    for line in first[:n]:
        out += [".nf", "\\fB" + quote(re.sub(r"^(Usage:)?\s+", "", line)) + "\\fR", ".fi"]
    out.append(".SH DESCRIPTION")
    in_options = False
    for block in [first[n:]] + blocks[1:]:
        if not block:
            continue
        if re.match(r"\s+-", block[0]):
            out += [] if in_options else [".SH OPTIONS"]
            in_options = True
            out += options(block)
        elif all(line.startswith("  ") for line in block):
            out += example([line[2:] for line in block])
        else:
            split = next((i for i, line in enumerate(block) if re.match(r"\s+-", line)), len(block))
            out += [".PP"] + ["\\&" + quote(line.strip()) for line in block[:split]]
            if block[split:]:
                out += [] if in_options else [".SH OPTIONS"]
                in_options = True
                out += options(block[split:])
    return out


def run(spoor, *arguments):
    return subprocess.run([spoor, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout


def commands(spoor):
    """Name and summary of each, out of `spoor --help`."""
    return re.findall(r"^  ([a-z-]+) +(\S.*)$", run(spoor, "--help"), re.MULTILINE)


def command_page(spoor, name, every, added):
    """The page of a command; name "-": of all. every: all commands. added: the file with what it says more."""
    if name == "-":
        body = head("spoor", 1, "traces of MPI jobs: small, merged, archived with the job's metadata") + from_help(run(spoor, "--help"))
    else:
        body = head("spoor-" + name, 1, dict(every)[name]) + from_help(run(spoor, name, "--help"))
    if os.path.exists(added):
        with open(added, encoding="utf-8") as file:
            body += markdown(file.read())
    return body + [".SH EXIT STATUS", "0: good. 1: it failed, and said why on stderr. 2: it was called wrongly." if name != "run" else
                   "That of COMMAND; 126 or 127 if it cannot be started; 1 if the trace cannot be written.",
                   ".SH SEE ALSO", ", ".join(f"\\fBspoor{'' if other == '-' else quote('-' + other)}\\fR(1)" for other in
                                             ["-"] + [n for n, _ in every] if other != name) +
                   ", \\fBspoor\\-policy\\fR(5), \\fBspoor\\-trace\\fR(5), "
                   "\\fBspoor\\-events\\fR(5), \\fBspoor\\-metadata\\fR(5), \\fBspoor\\-index\\fR(5), \\fBlibspoor\\fR(3), \\fBspoor\\-slurm\\fR(8)"]


def printed(body):
    return "".join(line + "\n" for line in body if line != "")


def main():
    if sys.argv[1] == "page":
        path, name, section, summary = sys.argv[2:6]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for folder in sys.argv[6:]:
            text = text.replace(*folder.split("=", 1))
        print(printed(head(name, section, summary) + [".SH DESCRIPTION"] + markdown(text)), end="")
        return
    spoor, added, to = sys.argv[2:5]
    every = commands(spoor)
    for name in sys.argv[5:]:
        page = printed(command_page(spoor, name, every, os.path.join(added, ("spoor" if name == "-" else name) + ".md")))
        with open(os.path.join(to, "spoor.1" if name == "-" else f"spoor-{name}.1"), "w", encoding="utf-8") as file:
            file.write(page)


if __name__ == "__main__":
    main()
