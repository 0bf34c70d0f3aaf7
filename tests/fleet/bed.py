"""A Slurm of three nodes on this machine: munged, slurmctld and three slurmds, all in one folder.

Needs Debian's slurmctld, slurmd, slurm-client and munge. Nothing is written outside the folder. Each process of Slurm
and of its jobs is a descendant of this process; stop() ends them. The daemons end with this process, however it ends.
"""
import contextlib
import ctypes
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

NODES = ("n1", "n2", "n3")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "scancel", "sinfo")
PATIENCE = 60  # seconds for a daemon
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CONFIGURATION = """
ClusterName=hgcheck
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# Also the time after which a requeued job may start.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
KillWait=10
SchedulerParameters=bf_interval=2,sched_interval=5
SlurmdParameters=config_overrides
{nodes}
PartitionName=low Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=n[1-3] MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def processes():
    """Of each process: its id, its parent's, and its command line."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = (entry / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[1]
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                yield int(entry.name), int(parent), words


def end_descendants():
    """Ends the children of this process, their children, and so on."""
    def below(process, parents):
        return [one for child in parents.get(process, []) for one in [child, *below(child, parents)]]
    while True:
        parents = {}
        for process, parent, _ in processes():
            parents.setdefault(parent, []).append(process)
        found = below(os.getpid(), parents)
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for process in parents.get(os.getpid(), []):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)
        if not found:
            return


def prctl(option, value):
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def wait_for(what, happens, patience=PATIENCE, more=str):
    until = time.monotonic() + patience
    while not happens():
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: not within {patience} seconds; {more()}")
        time.sleep(0.2)


class Bed:
    def __init__(self, folder):
        missing = [program for program in PROGRAMS if shutil.which(program) is None]
        if missing:
            raise RuntimeError(f"Slurm is not installed ({', '.join(missing)}): apt-get install slurmctld slurmd "
                               "slurm-client munge, or ./dev setup")
        self.folder = folder
        self.daemons = {}
        host = socket.gethostname().split(".")[0]
        ports = free_ports(1 + len(NODES))
        nodes = "\n".join(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=1000"
                          for node, port in zip(NODES, ports[1:]))
        (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=host, ports=ports, nodes=nodes,
                                                                user=getpass.getuser()), encoding="utf-8")
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (folder / name).mkdir()
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self):
        place = self.folder
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.daemon("munged", "munged", "--foreground", "--force", f"--socket={place}/munge.socket",
                    f"--key-file={place}/munge.key", f"--log-file={place}/munged.log",
                    f"--pid-file={place}/munged.pid", f"--seed-file={place}/munge.seed")
        self.wait_for("munged's socket", (place / "munge.socket").exists)
        self.daemon("slurmctld", "slurmctld", "-D", "-f", place / "slurm.conf")
        for node in NODES:
            self.daemon(node, "slurmd", "-D", "-N", node, "-f", place / "slurm.conf")
        self.wait_for("three idle nodes", lambda: self.ask("sinfo", "-h", "-N", "-p", "low", "-o", "%T").split()
                      == ["idle"] * len(NODES))

    def daemon(self, name, *command):
        with open(self.folder / f"{name}.output", "wb") as output:
            self.daemons[name] = subprocess.Popen([str(word) for word in command], stdout=output, stderr=output,
                                                  env=self.environment, stdin=subprocess.DEVNULL,
                                                  preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL))

    def stop(self):
        if "slurmctld" in self.daemons:
            subprocess.run(["scancel", "--me"], env=self.environment, capture_output=True, timeout=PATIENCE,
                           check=False)
        for daemon in reversed(list(self.daemons.values())):
            daemon.terminate()
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        end_descendants()  # jobs, and the processes of Slurm around them, outlive a slurmd
        prctl(PR_SET_CHILD_SUBREAPER, 0)

    def run(self, *command):
        return subprocess.run([str(word) for word in command], env=self.environment, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def ask(self, *command):
        return self.run(*command).stdout

    def jobs(self, state="all", name="hgcheck"):
        """The tasks of a fleet: number, id of the job, node."""
        lines = self.ask("squeue", "-h", "-r", "-n", name, "-t", state, "-o", "%K %A %N").splitlines()
        return [(int(words[0]), words[1], words[2] if len(words) > 2 else "") for words in map(str.split, lines)]

    def wait_for(self, what, happens, patience=PATIENCE):
        wait_for(what, happens, patience, lambda: self.ask("squeue", "-r") + self.ask("sinfo", "-N", "-l") +
                 self.tails())

    def tails(self):
        return "".join(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}\n"
                       for log in sorted(self.folder.rglob("*.log")))
