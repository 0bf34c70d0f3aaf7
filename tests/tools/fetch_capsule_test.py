"""tools/fetch-capsule against repositories of the tests' own: what it promises, and what it says when it cannot.

Not verified here: that Debian's archive holds what it should, and that a real full disk reads like the message that
stands for it.
"""
import os
import shutil
import time
import unittest

from debian_repository import CUDA, HEADERS_7_2, LIBRARIES, LIBS, RELEASE_6_4, Sandbox, without

NOBODY_LISTENS = "http://127.0.0.1:9/debian"


class FetchCapsule(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox()
        self.addCleanup(self.sandbox.close)
        self.capsule = self.sandbox.capsule / "6.4"

    def succeeds(self, *arguments, **options):
        status, printed = self.sandbox.run(*arguments, **options)
        self.assertEqual(status, 0, printed)
        return printed

    def fails(self, *expected, arguments=("6.4",), **options):
        """The run fails, says all that is expected and a remedy, and leaves no release."""
        status, printed = self.sandbox.run(*arguments, **options)
        self.assertEqual(status, 1, printed)
        for text in (*expected, "remedy: "):
            self.assertIn(text, printed)
        self.assertFalse(self.capsule.exists(), printed)
        return printed

    def wait_for(self, file):
        for _ in range(600):
            if (self.sandbox.folder / file).exists():
                return
            time.sleep(0.05)
        self.fail(f"{file} did not appear")

    # --- what is set up ---

    def test_a_release_is_set_up_with_versions_headers_and_a_way_in(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.succeeds("6.4")
        versions = (self.capsule / "VERSION").read_text().splitlines()
        self.assertEqual(versions, ["libamdhip64-6 6.4.3-5", "libamdhip64-dev 6.4.3-5", "libc6 2.43-7",
                                    "libhsa-runtime64-1 1:6.4.3-5"])
        self.assertTrue((self.capsule / LIBRARIES / "libhsa-runtime64.so.1").exists())
        self.assertTrue((self.capsule / "include" / "hip" / "hip_runtime_api.h").exists())
        self.assertTrue(os.access(self.capsule / "bin" / "run", os.X_OK))

    def test_the_headers_alone_need_no_runtime(self):
        self.sandbox.publish("experimental", HEADERS_7_2)
        self.succeeds("7.2-headers")
        folder = self.sandbox.capsule / "7.2-headers"
        self.assertEqual((folder / "VERSION").read_text(), "libamdhip64-dev 7.2.4-1\n")
        self.assertTrue((folder / "include" / "hip" / "hip_runtime_api.h").exists())

    def test_the_libraries_come_with_a_runtime_and_a_way_in(self):
        for suite, packages in LIBS.items():
            self.sandbox.publish(suite, packages)
        self.assertIn("ROCm's libraries: libamdhip64-7 7.2.4-1", self.succeeds("libs"))
        folder = self.sandbox.capsule / "libs"
        self.assertIn("librccl1 7.2.4-1\n", (folder / "VERSION").read_text())
        self.assertTrue((folder / LIBRARIES / "librccl.so.1").exists())
        self.assertTrue(os.access(folder / "bin" / "run", os.X_OK))

    def test_the_libraries_are_fetched_only_when_they_are_named(self):
        self.sandbox.run()
        self.assertEqual([file for file in self.sandbox.capsule.iterdir() if "libs" in file.name], [])

    def test_packages_of_the_libraries_without_a_library_are_refused(self):
        self.sandbox.publish("sid", LIBS["sid"])
        self.sandbox.publish("experimental", {**LIBS["experimental"], "librocblas5": ("7.2.4-2", "", [])})
        self.fails("do not hold usr/lib/x86_64-linux-gnu/librocblas.so.5", arguments=("libs",))

    def test_headers_of_cuda_are_kept_without_its_libraries(self):
        self.sandbox.publish("sid", CUDA, component="non-free")
        self.assertIn("CUDA's headers: nvidia-cuda-dev 12.4.127-1", self.succeeds("cuda"))
        folder = self.sandbox.capsule / "cuda"
        self.assertTrue((folder / "include" / "cuda_runtime_api.h").exists())
        self.assertFalse((folder / LIBRARIES).exists())
        for path in (folder, self.sandbox.mirror):
            shutil.rmtree(path)
        self.succeeds("cuda", mirror=NOBODY_LISTENS)  # the cache holds them
        self.assertTrue((folder / "include" / "cuda.h").exists())

    def test_a_run_with_nothing_to_do_asks_no_mirror(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.succeeds("6.4")
        self.sandbox.replace("apt-get", "touch $sandbox/asked; exit 1")
        self.assertEqual(self.succeeds("6.4"), "")
        self.assertFalse((self.sandbox.folder / "asked").exists())

    def test_again_replaces_what_is_there_and_drops_the_older_set(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.succeeds("6.4")
        newer = {**RELEASE_6_4, "libamdhip64-6": ("6.4.3-6", "libhsa-runtime64-1", [f"{LIBRARIES}/libamdhip64.so.6"])}
        self.sandbox.publish("forky", newer)
        self.succeeds("--again", "6.4")
        self.assertTrue((self.capsule / "VERSION").read_text().startswith("libamdhip64-6 6.4.3-6\n"))
        self.assertEqual([each.name for each in self.sandbox.sets()], ["6.4.3-6"])

    def test_a_way_in_that_has_changed_is_renewed(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.succeeds("6.4")
        way_in = self.capsule / "bin" / "run"
        current = way_in.read_text()
        way_in.write_text("of an older hgcheck")
        self.succeeds("6.4")
        self.assertEqual(way_in.read_text(), current)

    # --- the cache ---

    def test_without_network_the_cache_is_enough(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.succeeds("6.4")
        self.sandbox.capsule.rename(self.sandbox.folder / "another-checkout")
        self.succeeds("6.4", mirror=NOBODY_LISTENS)
        self.assertTrue((self.capsule / "VERSION").exists())

    def test_without_network_and_cache_the_error_says_so(self):
        self.fails("there is no network", NOBODY_LISTENS, mirror=NOBODY_LISTENS)

    def test_a_damaged_file_of_the_cache_is_fetched_again_and_the_others_are_not(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.succeeds("6.4")
        self.sandbox.capsule.rename(self.sandbox.folder / "another-checkout")
        damaged = next(self.sandbox.sets()[0].glob("libamdhip64-6_*.deb"))
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:-1] + b"?")
        # The mirror has lost all other packages: only the damaged one can be fetched.
        for file in (self.sandbox.mirror / "pool").iterdir():
            if file.name != damaged.name:
                file.unlink()
        self.assertIn("is damaged", self.succeeds("6.4"))
        self.assertEqual(next(self.sandbox.sets()[0].glob("libamdhip64-6_*.deb")).read_bytes(), whole)
        self.assertEqual((self.capsule / LIBRARIES / "libamdhip64.so.6").read_text(), "libamdhip64-6 6.4.3-5\n")

    def test_a_damaged_cache_without_network_is_no_capsule(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.succeeds("6.4")
        self.sandbox.capsule.rename(self.sandbox.folder / "another-checkout")
        next(self.sandbox.sets()[0].glob("libc6_*.deb")).unlink()
        self.fails("is damaged", "there is no network", mirror=NOBODY_LISTENS)

    # --- what can be wrong with a mirror ---

    def test_an_unsigned_index_is_refused(self):
        self.sandbox.publish("forky", RELEASE_6_4, signed=False)
        self.fails("no signature that this machine trusts", "forky", "debian-archive-keyring")

    def test_an_index_signed_by_a_stranger_is_refused(self):
        stranger = Sandbox()
        self.addCleanup(stranger.close)
        stranger.publish("forky", RELEASE_6_4)
        self.fails("no signature that this machine trusts", mirror=f"file:{stranger.mirror}")

    def test_a_missing_suite_is_named(self):
        self.sandbox.publish("experimental", HEADERS_7_2)
        self.fails("no usable suite forky", "--mirror")

    def test_a_missing_package_is_named(self):
        self.sandbox.publish("forky", without(RELEASE_6_4, "libamdhip64-6"))
        self.fails("no package libamdhip64-6 in forky", "archives move on")

    def test_a_suite_that_has_moved_on_to_another_release_is_refused_before_the_download(self):
        moved = {**RELEASE_6_4, "libamdhip64-dev": ("7.1.0-1", "", ["usr/include/hip/hip_runtime_api.h"])}
        self.sandbox.publish("forky", moved)
        self.fails("forky now holds libamdhip64-dev 7.1.0-1", "archives move on")
        self.assertEqual(self.sandbox.sets(), [])

    def test_packages_that_do_not_fit_together_are_no_release(self):
        self.sandbox.publish("forky", without(RELEASE_6_4, "libhsa-runtime64-1"))
        self.fails("do not fit together", "libhsa-runtime64-1")

    def test_a_package_that_is_not_what_the_index_names_is_refused(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        package = next((self.sandbox.mirror / "pool").glob("libc6_*.deb"))
        package.write_bytes(package.read_bytes()[:-1] + b"?")
        self.fails("delivers other packages than its signed index names")
        self.assertEqual(self.sandbox.sets(), [])

    def test_a_release_that_cannot_be_had_does_not_keep_the_others_away(self):
        self.sandbox.publish("experimental", HEADERS_7_2)
        self.fails("HIP 6.4: ", arguments=("6.4", "7.2-headers"))
        self.assertTrue((self.sandbox.capsule / "7.2-headers" / "VERSION").exists())

    def test_a_failure_is_remembered_for_those_who_ask_for_what_is_due(self):
        self.fails("no usable suite")
        self.sandbox.publish("forky", RELEASE_6_4)
        status, printed = self.sandbox.run("--if-due", "6.4")
        self.assertEqual(status, 1)
        self.assertIn("./dev setup", printed)
        self.succeeds("6.4")

    # --- what can be wrong with the machine ---

    def test_a_missing_tool_is_named(self):
        others = self.sandbox.folder / "others"
        others.mkdir()
        for folder in os.environ["PATH"].split(":"):
            for name in os.listdir(folder) if os.path.isdir(folder) else ():
                if name != "dpkg-deb" and not (others / name).is_symlink():
                    (others / name).symlink_to(os.path.join(folder, name))
        self.fails("this needs dpkg-deb", path=str(others))

    def test_a_full_disk_is_named(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.sandbox.replace("dpkg-deb", 'echo "dpkg-deb: error: cannot copy: No space left on device" >&2; exit 2')
        self.fails("the disk is full", "make room (2 GB are enough)")
        for suite, packages in LIBS.items():
            self.sandbox.publish(suite, packages)
        self.fails("the disk is full", "make room (25 GB are enough)", arguments=("libs",))
        self.sandbox.restore("dpkg-deb")
        self.succeeds("6.4")

    # --- runs that meet each other, or die ---

    def die_when(self, program, step, group=True):
        """Kills a run while PROGRAM is called with STEP, and checks that nothing half of a capsule is left."""
        self.sandbox.replace(
            program, f'case " $* " in *" {step} "*) touch $sandbox/here; exec sleep 60;; esac; exec $real "$@"')
        process = self.sandbox.start("6.4")
        self.wait_for("here")
        self.sandbox.kill(process, group)
        self.sandbox.restore(program)
        (self.sandbox.folder / "here").unlink()
        self.assertFalse(self.capsule.exists())

    def test_a_run_killed_while_it_downloads_leaves_nothing_and_does_not_block_the_next(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        for step in ("update", "download"):
            self.die_when("apt-get", step, group=False)  # its apt lives on
            self.assertEqual(self.sandbox.sets(), [])
        self.succeeds("6.4")

    def test_a_run_killed_while_it_unpacks_leaves_no_release_and_the_next_one_needs_no_network(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.die_when("dpkg-deb", "-x")
        self.succeeds("6.4", mirror=NOBODY_LISTENS)
        leftovers = [each.name for each in self.sandbox.capsule.iterdir() if not each.name.startswith(".lock")]
        self.assertEqual(leftovers, ["6.4"])

    def test_a_run_killed_while_it_replaces_a_release_leaves_the_old_one(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.succeeds("6.4")
        self.sandbox.replace("dpkg-deb", "touch $sandbox/here; exec sleep 60")
        process = self.sandbox.start("--again", "6.4")
        self.wait_for("here")
        self.sandbox.kill(process)
        self.assertEqual((self.capsule / LIBRARIES / "libamdhip64.so.6").read_text(), "libamdhip64-6 6.4.3-5\n")

    def test_two_runs_at_once_wait_for_each_other_and_download_once(self):
        self.sandbox.publish("forky", RELEASE_6_4)
        self.sandbox.replace(
            "apt-get", 'case " $* " in *" download "*) echo >>$sandbox/downloads; sleep 0.5;; esac; exec $real "$@"')
        runs = [self.sandbox.start("6.4") for _ in range(2)]
        printed = "".join(run.communicate(timeout=60)[0] for run in runs)
        self.assertEqual([run.returncode for run in runs], [0, 0], printed)
        self.assertIn("waiting for another run", printed)
        self.assertEqual((self.sandbox.folder / "downloads").read_text(), "\n")


if __name__ == "__main__":
    unittest.main()
