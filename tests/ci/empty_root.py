"""A root of its own for the tests of this folder, by bubblewrap: no network, no variable, an empty home."""
import pathlib
import subprocess

LINKS = ("bin", "lib", "lib64")
# What a machine has besides /usr; without the alternatives there is no c++.
MOUNTS = ("--ro-bind", "/etc/alternatives", "/etc/alternatives", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
          "--tmpfs", "/home")
# The machine's own /usr, and nothing else of it.
USR = ("--ro-bind", "/usr", "/usr", *(word for name in LINKS for word in ("--symlink", f"usr/{name}", f"/{name}")),
       *MOUNTS)


def run_in(root, *command, variables=None, cwd="/", timeout=100):
    """Runs a command in the root that bubblewrap's options `root` make."""
    named = {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin", "HOME": "/home", **(variables or {})}
    words = [word for name, value in named.items() for word in ("--setenv", name, value)]
    return subprocess.run(["bwrap", "--unshare-all", "--die-with-parent", "--clearenv", *map(str, root), *words,
                           "--chdir", cwd, *map(str, command)], capture_output=True, text=True, check=False,
                          timeout=timeout)


def host_in(place, packaged):
    """Fills `place`/usr with links to the machine's /usr, which is at /host; the folders that `packaged` names are
    folders of their own, so that packages can be installed. Returns bubblewrap's options for this root."""
    for folder in sorted({pathlib.Path("usr"), *packaged}):
        if not (pathlib.Path("/") / folder).is_dir():
            continue
        (place / folder).mkdir(parents=True, exist_ok=True)
        if folder.is_relative_to("usr/share/doc") or folder.is_relative_to("usr/share/man"):
            continue  # thousands of files that nobody reads here
        for entry in (pathlib.Path("/") / folder).iterdir():
            if folder / entry.name not in packaged:
                (place / folder / entry.name).symlink_to(pathlib.Path("/host") / folder / entry.name)
    for name in LINKS:
        (place / name).symlink_to(f"usr/{name}")
    return ("--bind", place, "/", "--ro-bind", "/usr", "/host/usr", *MOUNTS)
