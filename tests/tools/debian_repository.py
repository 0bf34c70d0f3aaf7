"""A Debian repository in a folder, with packages, suites and signatures of its own, and a run of fetch-capsule on it.

The repository is a real one (apt reads it, gpg signs it); the packages are empty but for the files that fetch-capsule
asks for. Nothing here needs a network or root.
"""
import contextlib
import gzip
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FETCH = ROOT / "tools" / "fetch-capsule"
LIBRARIES = "usr/lib/x86_64-linux-gnu"

# What release 6.4 is made of, as {package: (version, depends, files)}; others are made from it.
RELEASE_6_4 = {
    "libamdhip64-6": ("6.4.3-5", "libhsa-runtime64-1, libc6", [f"{LIBRARIES}/libamdhip64.so.6"]),
    "libamdhip64-dev": ("6.4.3-5", "libamdhip64-6", ["usr/include/hip/hip_runtime_api.h"]),
    "libhsa-runtime64-1": ("1:6.4.3-5", "", [f"{LIBRARIES}/libhsa-runtime64.so.1"]),
    "libc6": ("2.43-7", "", [f"{LIBRARIES}/ld-linux-x86-64.so.2"]),
}
# The headers of release 7.2, which fetch-capsule sets up without the runtime that they depend on.
HEADERS_7_2 = {
    "libamdhip64-dev": ("7.2.4-1", "libamdhip64-7 (= 7.2.4-1)", ["usr/include/hip/hip_runtime_api.h"]),
}

# CUDA's headers, in a package that has more than these.
CUDA = {
    "nvidia-cuda-dev": ("12.4.127-1", "libcudart12 (>= 12.4)",
                        ["usr/include/cuda.h", "usr/include/cuda_runtime_api.h", f"{LIBRARIES}/libcublas_static.a"]),
}

# ROCm's libraries and their tests, as {suite: packages}. sid has a package of another version as well.
LIBS = {
    "experimental": {
        "libamdhip64-7": ("7.2.4-1", "libc6", [f"{LIBRARIES}/libamdhip64.so.7"]),
        "libhsa-runtime64-1": ("7.2.4-1", "", [f"{LIBRARIES}/libhsa-runtime64.so.1"]),
        "librccl1": ("7.2.4-1", "libroctx64-4, librocm-smi64-7", [f"{LIBRARIES}/librccl.so.1"]),
        "librocblas5": ("7.2.4-1", "", [f"{LIBRARIES}/librocblas.so.5"]),
        "librocrand1": ("7.2.4-1", "", [f"{LIBRARIES}/librocrand.so.1"]),
        **{name: ("7.2.4-1", "", []) for name in (
            "libamd-comgr3", "libhiprtc7", "libhiprtc-builtins7", "librccl1-tests", "libroctx64-4", "librocm-smi64-7",
            "librocblas5-tests", "librocrand1-tests", "libhipcub-tests", "librocprim-tests")},
    },
    "sid": {
        "libc6": ("2.43-7", "", [f"{LIBRARIES}/ld-linux-x86-64.so.2"]),
        "librccl1": ("6.4.3-1", "", []),
    },
}


def without(packages, name):
    return {key: value for key, value in packages.items() if key != name}


class Sandbox:
    """A folder with a repository, a cache and a place for capsules; its programs can be replaced by others."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hgcheck-capsule-"))
        self.folder.chmod(0o755)  # apt reads the mirror as a user of its own
        self.mirror = self.folder / "mirror"
        self.capsule = self.folder / "capsule"
        self.cache = self.folder / "cache"
        self.bin = self.folder / "bin"
        for made in (self.mirror, self.bin, self.folder / "tmp"):
            made.mkdir()
        self.orphans = []
        self.keyring = self.folder / "keys.gpg"
        self._gpg_home = self.folder / "gpg"
        self._gpg_home.mkdir(mode=0o700)
        self._gpg("--quick-gen-key", "tests", "ed25519", "sign", "never")
        self._gpg("--output", str(self.keyring), "--export")

    def close(self):
        for group in self.orphans:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        subprocess.run(["gpgconf", "--homedir", self._gpg_home, "--kill", "all"], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _gpg(self, *arguments):
        command = ["gpg", "--homedir", str(self._gpg_home), "--batch", "--quiet", "--yes", "--passphrase", "",
                   *arguments]
        subprocess.run(command, check=True, capture_output=True)

    # --- the repository ---

    def publish(self, suite, packages, signed=True, component="main"):
        """Makes SUITE hold PACKAGES, and nothing else."""
        index = "".join(self._build(name, *what) for name, what in packages.items()).encode()
        place = self.mirror / "dists" / suite
        binary = place / component / "binary-amd64"
        binary.mkdir(parents=True, exist_ok=True)
        (binary / "Packages.gz").write_bytes(gzip.compress(index))
        (binary / "Packages").write_bytes(index)
        lines = [f"Suite: {suite}", f"Codename: {suite}", "Architectures: amd64", f"Components: {component}",
                 "Date: Sat, 01 Jan 2022 00:00:00 UTC", "Valid-Until: Sun, 02 Jan 2022 00:00:00 UTC", "SHA256:"]
        for file in ("Packages.gz", "Packages"):
            data = (binary / file).read_bytes()
            lines.append(f" {hashlib.sha256(data).hexdigest()} {len(data)} {component}/binary-amd64/{file}")
        (place / "Release").write_text("\n".join(lines) + "\n")
        (place / "InRelease").unlink(missing_ok=True)
        if signed:
            self._gpg("--output", str(place / "InRelease"), "--clearsign", str(place / "Release"))

    def _build(self, name, version, depends, files):
        tree = self.folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        control = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: tests\nDescription: tests\n"
        if depends:
            control += f"Depends: {depends}\n"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN" / "control").write_text(control)
        for file in files:
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_text(f"{name} {version}\n")
            (tree / file).chmod(0o755)
        pool = self.mirror / "pool"
        pool.mkdir(exist_ok=True)
        file = pool / f"{name}_{version.replace(':', '%3a')}_amd64.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, file], check=True,
                       capture_output=True)
        data = file.read_bytes()
        return (f"{control}Filename: pool/{file.name}\nSize: {len(data)}\n"
                f"SHA256: {hashlib.sha256(data).hexdigest()}\n\n")

    # --- runs ---

    def replace(self, program, script):
        """Makes runs find SCRIPT under the name of a program of this machine; $real is the path of the replaced one."""
        file = self.bin / program
        file.write_text(f"#!/bin/sh\nreal={shutil.which(program)}\nsandbox={self.folder}\n{script}\n")
        file.chmod(0o755)

    def restore(self, program):
        (self.bin / program).unlink()

    def start(self, *arguments, mirror=None, path=None):
        environment = {"PATH": path or f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.folder),
                       "XDG_CACHE_HOME": str(self.cache), "TMPDIR": str(self.folder / "tmp")}
        command = [FETCH, "--into", self.capsule, "--mirror", mirror or f"file:{self.mirror}",
                   "--keyring", self.keyring, *arguments]
        return subprocess.Popen(command, env=environment, text=True, stdin=subprocess.DEVNULL, start_new_session=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *arguments, **options):
        """Runs fetch-capsule to its end: (status, what it printed)."""
        process = self.start(*arguments, **options)
        printed, _ = process.communicate(timeout=60)
        return process.returncode, printed

    def kill(self, process, group=True):
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()  # its children live on, and end with the sandbox
            self.orphans.append(process.pid)
        process.stdout.close()
        process.wait()

    def sets(self, release="6.4"):
        """The sets of the cache that have a name."""
        folder = self.cache / "hgcheck" / release
        return sorted(each for each in folder.glob("*") if each.is_dir() and not each.name.startswith("."))
