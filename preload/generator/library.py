# SPDX-License-Identifier: BSD-3-Clause
"""library - what the MPI library's mpi.h declares: functions, and which constants there are"""
import re
import subprocess

from generator.table import HANDLES

PREAMBLE = "#define OMPI_OMIT_MPI1_COMPAT_DECLS 0\n#define OMPI_SKIP_MPICXX 1\n#include <mpi.h>\n" \
           "#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"
CONVERSIONS = ["MPI_Request_c2f"] + [f2c for _, f2c in HANDLES.values()]
# Datatypes that Open MPI's Fortran modules have and its mpi.h has not: its Fortran compiler lacked them, and their size is 0.
HIDDEN = {"MPI_INTEGER16": "ompi_mpi_integer16", "MPI_REAL2": "ompi_mpi_real2", "MPI_COMPLEX4": "ompi_mpi_complex4"}
PROTOTYPE = re.compile(r"^(?:extern )?([A-Za-z_][\w ]*?[ *]+)(MPIX?_\w+) ?\((.*)\)$")


class LibraryError(Exception):
    pass


class Prototype:
    def __init__(self, result, name, parameters):
        self.result, self.name, self.parameters = result, name, parameters  # parameters: declarations, as text

    def declare(self, names):
        """The parameter list with other names: 'const void *buf' or 'int ranges[][3]', renamed."""
        out = []
        for declaration, name in zip(self.parameters, names):
            m = re.match(r"^(.*?)(\w+)((?:\[\w*\])*)$", declaration)
            out.append(f"{m.group(1)}{name}{m.group(3)}")
        return ", ".join(out) or "void"


class Library:
    def __init__(self, compiler, flags, constants):
        source = PREAMBLE + "".join(f'SPOOR_CONSTANT "{c}" {c} ;\n' for c in constants)
        source += "".join(f'SPOOR_CONVERSION "{c}" {c}(0) ;\n' for c in CONVERSIONS)
        command = compiler + flags + ["-E", "-P", "-x", "c", "-"]
        try:
            run = subprocess.run(command, input=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 universal_newlines=True)
        except OSError as e:
            raise LibraryError(f"cannot run the compiler ({' '.join(command)}): {e.strerror}") from None
        if run.returncode:
            raise LibraryError(f"cannot read mpi.h with {' '.join(command)}:\n{run.stderr}"
                               "expected: the folder of mpi.h as -I option (--cppflags)")
        self.text = run.stdout
        self.prototypes = {}
        self.read_prototypes(self.text.split("SPOOR_CONSTANT", 1)[0])
        self.read_constants(constants)

    def read_prototypes(self, text):
        text = re.sub(r"__attribute__ *\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", "", text)
        for statement in text.split(";"):
            statement = " ".join(statement.split())
            m = PROTOTYPE.match(statement)
            if not m or "typedef" in m.group(1):
                continue
            result, name, parameters = m.groups()
            parameters = [" ".join(p.split()) for p in parameters.split(",")]
            if parameters == ["void"]:
                parameters = []
            self.prototypes[name] = Prototype(result.strip(), name, parameters)
        if "MPI_Send" not in self.prototypes:
            raise LibraryError("found no prototype of MPI_Send in mpi.h")

    def read_constants(self, constants):
        """symbols: predefined handles -> the variable whose address they are (Open MPI). values: other constants that
        exist. variables: constants -> (type, variable that holds the value), which can only be read in the process."""
        self.symbols, self.values, self.variables = {}, set(), {}
        head = self.text.split("SPOOR_CONSTANT", 1)[0]
        words = set(re.findall(r"\w+", head))
        for name, expansion in re.findall(r'SPOOR_CONSTANT\s+"(\w+)"([^;"]*);', self.text):
            expansion = expansion.strip()
            address = re.search(r"&\s*\(?\s*(\w+)", expansion)
            variable = re.search(rf"\bextern ([^;{{}}()]*?)\s*\b{re.escape(expansion)}\b[^;(]*;", head) if re.fullmatch(r"[A-Za-z_]\w*", expansion) else None
            if address:
                self.symbols[name] = address.group(1)
            elif expansion != name or name in words:
                self.values.add(name)
                if variable:
                    self.variables[name] = (variable.group(1), expansion)
        #: of symbols, those that mpi.h does not declare. A later version of the library may not have them.
        self.hidden = {}
        if self.symbols.get("MPI_COMM_WORLD") == "ompi_mpi_comm_world":
            self.hidden = {c: symbol for c, symbol in HIDDEN.items() if c in constants and c not in self.symbols}
            self.symbols.update(self.hidden)
        #: conversions of handles that are functions, or macros, of this library -> their names: since MPI 5 also fromint and toint
        self.conversions = {name: name for name, expansion in re.findall(r'SPOOR_CONVERSION\s+"(\w+)"([^;"]*);', self.text)
                            if name in self.prototypes or not expansion.strip().startswith(name)}
        for name in CONVERSIONS:
            newer = name.replace("_c2f", "_toint").replace("_f2c", "_fromint")
            if name not in self.conversions and newer in self.prototypes:
                self.conversions[name] = newer
        if "MPI_COMM_WORLD" not in self.symbols and "MPI_COMM_WORLD" not in self.values:
            raise LibraryError("found no MPI_COMM_WORLD in mpi.h")
