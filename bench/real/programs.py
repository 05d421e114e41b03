# SPDX-License-Identifier: BSD-3-Clause
"""programs - the real programs of bench/real/run: their packages, their input, and what of their output is a result"""
import hashlib
import os
import random
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = "/usr/share/doc/openfoam-examples/examples"

# Goedecker, Teter and Hutter's potential of silicon, LDA (Physical Review B 54, 1703)
SILICON = """Silicon, GTH, LDA
 14 4 960101 zatom, zion, date
 10 1 1 1 2001 0 code, xc, lmax, lloc, mmax, r2well
 0.44000000 1 -7.33610297 rloc, number of coefficients, coefficients
 2
 0.42273813 2 5.90692831 -1.26189397
 3.25819622
 0.48427842 1 2.72701346
 0
"""


class Failed(Exception):
    pass


def said_by(command, folder, environment=None):
    """The output of a command that prepares something."""
    done = subprocess.run(command, cwd=folder, env=dict(os.environ, **(environment or {})), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with status {done.returncode}: {done.stdout.decode(errors='replace')[-500:]}")
    return done.stdout.decode(errors="replace")


def other_strand(bases):
    return bases[::-1].translate(str.maketrans("ACGT", "TGCA"))


class Program:
    """One of them. prepare() makes its input in a folder, in which it then runs."""
    library = "openmpi"
    packages, command, environment = (), (), {}
    ranks = 4
    timeout = 300
    result = None  # what the lines that are a result match

    def prepare(self, folder, ranks):
        pass

    def results(self, folder, out):
        """What must be the same, traced and untraced."""
        return re.findall(self.result, out, re.M)


class NWChem(Program):
    """Molecule of water, B3LYP: many call paths."""
    packages, command, ranks = ("nwchem-openmpi",), ("nwchem.openmpi", "water.nw"), 2
    environment = {"NWCHEM_BASIS_LIBRARY": "/usr/share/nwchem/libraries/"}
    result = r"Total DFT energy = +(-?\d+\.\d{7})"

    def prepare(self, folder, ranks):
        shutil.copy(os.path.join(HERE, "water.nw"), folder)


class NWChemOptimize(NWChem):
    """The same until the geometry is optimal: twice as many call paths, and a number of steps that differs from run to run."""

    def prepare(self, folder, ranks):
        with open(os.path.join(HERE, "water.nw"), encoding="ascii") as f:
            text = f.read()
        with open(os.path.join(folder, "water.nw"), "w", encoding="ascii") as f:
            f.write(text.replace("task dft energy", "task dft optimize"))

    def results(self, folder, out):
        return [energy[:-2] for energy in super().results(folder, out)[-1:]]


class CP2K(Program):
    """Molecule of water, three steps of molecular dynamics: many call paths."""
    packages, command, ranks = ("cp2k",), ("cp2k.psmp", "-i", "water.inp"), 2
    environment = {"OMP_NUM_THREADS": "1", "CP2K_DATA_DIR": "/usr/share/cp2k"}
    result = r"^ ENERGY\|.* (-\d+\.\d{9})"

    def prepare(self, folder, ranks):
        shutil.copy(os.path.join(HERE, "water.inp"), folder)


class ABySS(Program):
    """Assembly of reads of a random genome: messages in no order."""
    packages, command = ("abyss",), ("/usr/lib/abyss/ABYSS-P", "-k25", "-o", "contigs.fa", "reads.fa")
    genome, length, depth = 10000, 100, 20

    def prepare(self, folder, ranks):
        draw = random.Random(1)
        genome = "".join(draw.choice("ACGT") for _ in range(self.genome))
        with open(os.path.join(folder, "reads.fa"), "w", encoding="ascii") as f:
            for i in range(self.genome * self.depth // self.length):
                at = draw.randrange(self.genome - self.length)
                read = "".join(c if draw.random() > 0.003 else draw.choice("ACGT") for c in genome[at:at + self.length])
                f.write(f">{i}\n{read if i % 2 else other_strand(read)}\n")

    def results(self, folder, out):
        with open(os.path.join(folder, "contigs.fa"), encoding="ascii") as f:
            return sorted(min(s, other_strand(s)) for s in f.read().split("\n")[1::2])


class OpenFOAM(Program):
    """Flow behind a step (pitzDaily), 20 iterations: C++, long names."""
    packages, command = ("openfoam", "openfoam-examples"), ("simpleFoam", "-parallel")
    environment = {"WM_PROJECT_DIR": "/usr/share/openfoam"}
    result = r"^(?:Time = |.*Solving for|time step continuity).*$"

    def prepare(self, folder, ranks):
        shutil.copytree(os.path.join(EXAMPLES, "incompressible/simpleFoam/pitzDaily"), folder, dirs_exist_ok=True)
        with open(os.path.join(folder, "system/decomposeParDict"), "w", encoding="ascii") as f:
            f.write("FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }\n"
                    f"numberOfSubdomains {ranks}; method simple; simpleCoeffs {{ n ({ranks} 1 1); delta 0.001; }}\n")
        control = os.path.join(folder, "system/controlDict")
        with open(control, encoding="ascii") as f:
            text = f.read()
        text = re.sub(r"^functions\s*\{.*?^\}", "", text, flags=re.M | re.S)
        text = re.sub(r"^endTime .*", "endTime 20;", text, flags=re.M)
        with open(control, "w", encoding="ascii") as f:
            f.write(text)
        for command in ("blockMesh", "decomposePar"):
            said_by([command], folder, self.environment)


class Compiled(Program):
    """One of our own, on a real library, by that library's compiler."""
    compiler, source = "", ""
    command = ("./compiled",)

    def prepare(self, folder, ranks):
        said_by([f"{self.compiler}.{self.library}", "-O1", "-g", "-o", "compiled", os.path.join(HERE, self.source)], folder)


class Coarray(Compiled):
    """Heat in a rod, in coarray Fortran (OpenCoarrays): one-sided communication."""
    packages, compiler, source = ("libcoarrays-openmpi-dev",), "caf", "heat.f90"
    result = r"^heat .*$"


class Espresso(Program):
    """Silicon, self-consistent (Quantum ESPRESSO)."""
    packages, command, ranks = ("quantum-espresso",), ("pw.x", "-in", "si.in"), 2
    environment = {"OMP_NUM_THREADS": "1"}
    result = r"^! +total energy.*$"

    def prepare(self, folder, ranks):
        shutil.copy(os.path.join(HERE, "si.in"), folder)
        with open(os.path.join(folder, "Si.pz.gth"), "w", encoding="ascii") as f:
            f.write(SILICON)


class CoarrayMpich(Coarray):
    """Two ranks, as all with MPICH: its ranks do not yield."""
    ranks, library, packages = 2, "mpich", ("libcoarrays-mpich-dev",)


class HDF5(Compiled):
    """Files that all ranks write together, by HDF5."""
    packages, compiler, source = ("libhdf5-openmpi-dev",), "h5pcc", "field.c"
    result = r"^field: .*$"


class HDF5Mpich(HDF5):
    ranks, library, packages = 2, "mpich", ("libhdf5-mpich-dev",)


class ScaLAPACK(Program):
    """The test of ScaLAPACK's orthogonal factorizations: many communicators, derived types."""
    packages, ranks = ("scalapack-mpi-test",), 2
    result = r"^ *\d+ tests .*$"
    folder = "/usr/lib/x86_64-linux-gnu/scalapack/{}-tests"

    @property
    def command(self):
        return (os.path.join(self.folder.format(self.library), "xdqr"),)

    def prepare(self, folder, ranks):
        shutil.copy(os.path.join(self.folder.format("openmpi"), "QR.dat"), folder)


class ScaLAPACKMpich(ScaLAPACK):
    library = "mpich"


class Tachyon(Program):
    """A picture of a thousand balls, by ray tracing: The library is chosen by its path."""
    packages, command = ("tachyon-bin-nox", "libtachyon-openmpi-0"), ("tachyon-nox", "balls.dat", "-format", "PPM", "-o", "balls.ppm")
    environment, ranks = {"LD_LIBRARY_PATH": "."}, 2

    def prepare(self, folder, ranks):
        os.symlink(f"/usr/lib/x86_64-linux-gnu/libtachyon-{self.library}.so.0", os.path.join(folder, "libtachyon.so.0"))
        draw = random.Random(1)
        with open(os.path.join(folder, "balls.dat"), "w", encoding="ascii") as f:
            f.write("BEGIN_SCENE RESOLUTION 800 600\n"
                    "CAMERA ZOOM 1.0 ASPECTRATIO 1.0 ANTIALIASING 1 RAYDEPTH 6 CENTER 0 0 -6 VIEWDIR 0 0 1 UPDIR 0 1 0 END_CAMERA\n"
                    "LIGHT CENTER 4 3 -5 RAD 0.2 COLOR 0.8 0.8 0.8 BACKGROUND 0.1 0.1 0.3\n")
            for _ in range(1000):
                x, y, z, radius = draw.uniform(-3, 3), draw.uniform(-2, 2), draw.uniform(0, 6), draw.uniform(0.05, 0.4)
                f.write(f"SPHERE CENTER {x:.4f} {y:.4f} {z:.4f} RAD {radius:.4f}\nTEXTURE AMBIENT 0.1 DIFFUSE 0.7 SPECULAR 0.2 OPACITY 1.0 "
                        f"COLOR {draw.random():.2f} {draw.random():.2f} {draw.random():.2f} TEXFUNC 0\n")
            f.write("END_SCENE\n")

    def results(self, folder, out):
        with open(os.path.join(folder, "balls.ppm"), "rb") as f:
            return [hashlib.sha1(f.read()).hexdigest()]


class TachyonMpich(Tachyon):
    library, packages = "mpich", ("tachyon-bin-nox", "libtachyon-mpich-0")


PROGRAMS = {"nwchem": NWChem, "nwchem-opt": NWChemOptimize, "cp2k": CP2K, "abyss": ABySS, "openfoam": OpenFOAM, "coarray": Coarray, "espresso": Espresso,
            "hdf5": HDF5, "scalapack": ScaLAPACK, "tachyon": Tachyon,
            "coarray-mpich": CoarrayMpich, "hdf5-mpich": HDF5Mpich, "scalapack-mpich": ScaLAPACKMpich,
            "tachyon-mpich": TachyonMpich}
