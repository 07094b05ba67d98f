"""Cases of the completion for bash, zsh and fish, each asked in its own shell."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from command_line import EPHOST

# What the words of a command line are completed to: {} is a folder with the folder `home` and the file `home.txt`.
# The last word is the one that is completed.
CASES = [
    (("cache", "pr"), ["prune"]),
    (("run", "--form"), ["--format"]),
    (("run", "--format", "j"), ["json"]),
    (("partition", "--format", "d"), ["dot"]),
    (("run", "--tag", "r"), []),
    (("run", "{}/ho"), ["{}/home", "{}/home.txt"]),
    (("test", "{}/ho"), ["{}/home", "{}/home.txt"]),
    (("run", "--cache-dir", "{}/ho"), ["{}/home"]),
    (("run", "--optimized-model", "{}/ho"), ["{}/home", "{}/home.txt"]),
    (("cache", "list", "{}/ho"), ["{}/home"]),
    (("run", "--tag", "cache", "--ver"), ["--verbose"]),
    (("trust", "add", "--sys"), ["--system"]),
]

# Writes what the completion of the words before the cursor proposes, when ^Y is typed. The options -A, -D and -O of
# compadd are calls of the completion system for itself.
ZSH = r"""
PS1= PS2= PROMPT_EOL_MARK=
fpath=($FOLDER $fpath)
autoload -Uz compinit && compinit -u -d $OUT/dump
compadd() {
  local -a hits
  local word
  for word in "$@"; do
    case $word in
      --|-) break ;;
      -[12a-zA-Z]#[ADO]*) builtin compadd "$@"; return ;;
    esac
  done
  builtin compadd -A hits "$@"
  print -rl -- "${IPREFIX}${(@)^hits}" >> $OUT/hits
  builtin compadd "$@"
}
setopt extended_glob
ask() { _main_complete; : > $OUT/done; }
zle -C ask list-choices ask
bindkey '^Y' ask
: > $OUT/ready
"""


class CompletionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name).resolve()
        subprocess.run([EPHOST, "--write-documentation", cls.folder], check=True, timeout=60)
        cls.files = cls.folder / "files"
        (cls.files / "home").mkdir(parents=True)
        (cls.files / "home.txt").touch()
        listed = subprocess.run([EPHOST, "--help"], check=True, capture_output=True, text=True, timeout=60).stdout
        cls.commands = re.findall(r"(?m)^  ([a-z-]+) ", listed[listed.index("Subcommands:"):])

    def environment(self):
        return {"PATH": f"{pathlib.Path(EPHOST).parent}:/usr/bin:/bin", "HOME": str(self.folder), "TERM": "dumb",
                "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(self.folder / "config"),
                "XDG_DATA_HOME": str(self.folder / "data")}

    def check_cases(self, complete):
        """`complete` returns what is proposed for the last of some words, without the slashes after folders."""
        self.assertEqual(sorted(complete(["ephost", ""])), sorted(self.commands))
        self.assertGreater(len(self.commands), 15)
        for words, wanted in CASES:
            with self.subTest(words=words):
                found = complete(["ephost", *(word.format(self.files) for word in words)])
                self.assertEqual(sorted(set(found)), [one.format(self.files) for one in wanted])

    def bash(self, words):
        script = self.folder / "bash-completion" / "ephost"
        done = subprocess.run(
            ["bash", "--norc", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ephost; '
             'printf "%s\\n" "${COMPREPLY[@]}"', script, *words], env=self.environment(), check=True,
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return [line for line in done.stdout.splitlines() if line]

    def test_bash(self):
        self.check_cases(self.bash)

    def test_bash_completes_what_follows_an_equals_sign(self):
        for words, wanted in [(("run", "--format", "="), ["table", "json"]), (("run", "--format", "=", "t"), ["table"]),
                              (("run", "--input", "data", "=", f"{self.files}/home.t"), [f"{self.files}/home.txt"])]:
            self.assertEqual(self.bash(["ephost", *words]), wanted)

    def fish(self, words):
        line = " ".join(words)
        done = subprocess.run(["fish", "--no-config", "-c", f"source {self.folder}/fish/ephost.fish; complete -C '{line}'"],
                              env=self.environment(), check=True, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        found = [line.split("\t")[0].rstrip("/") for line in done.stdout.splitlines()]
        # fish 4 also lists words that contain the last one elsewhere.
        return [word for word in found if word.startswith(words[-1])] or found

    @unittest.skipUnless(shutil.which("fish"), "scripts/setup.sh --test installs fish")
    def test_fish(self):
        self.check_cases(self.fish)
        self.assertEqual(self.fish(["ephost", "run", "--format=j"]), ["--format=json"])
        described = subprocess.run(
            ["fish", "--no-config", "-c", f"source {self.folder}/fish/ephost.fish; complete -C 'ephost cache pr'"],
            env=self.environment(), check=True, capture_output=True, text=True, timeout=60).stdout
        self.assertRegex(described, "^prune\tRemove entries")

    def zsh(self, words):
        """Asks an interactive zsh in a terminal of its own."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        process, terminal = pty.fork()
        if process == 0:
            os.execve("/usr/bin/zsh", ["zsh", "-f", "-i"],
                      {**self.environment(), "OUT": str(out), "FOLDER": str(self.folder / "zsh")})
        try:
            (out / "setup").write_text(ZSH)
            os.write(terminal, f" source {out}/setup\n".encode())
            self.wait_for(out / "ready", terminal)
            os.write(terminal, " ".join(words).encode() + b"\x19")
            self.wait_for(out / "done", terminal)
        finally:
            os.kill(process, 9)
            os.waitpid(process, 0)
            os.close(terminal)
        hits = out / "hits"
        return [line.rstrip("/") for line in hits.read_text().splitlines() if line] if hits.exists() else []

    def wait_for(self, file, terminal):
        """Until the shell has made the file. What it prints has to be read."""
        end = time.monotonic() + 120
        printed = b""
        while not file.exists():
            self.assertLess(time.monotonic(), end, printed.decode(errors="replace"))
            if select.select([terminal], [], [], 0.05)[0]:
                printed += os.read(terminal, 65536)

    @unittest.skipUnless(shutil.which("zsh"), "scripts/setup.sh --test installs zsh")
    def test_zsh(self):
        self.check_cases(self.zsh_candidates)
        self.assertEqual(self.zsh_candidates(["ephost", "run", "--format=j"]), ["--format=json"])

    def zsh_candidates(self, words):
        """zsh proposes what follows the last slash."""
        before = words[-1].rpartition("/")
        return [found if found.startswith(before[0] + "/") or not before[1] else f"{before[0]}/{found}"
                for found in self.zsh(words)]

    def test_shells_take_the_scripts_without_a_word(self):
        checks = [(["bash", "-n"], "bash-completion/ephost"), (["zsh", "-n"], "zsh/_ephost"),
                  (["fish", "--no-execute"], "fish/ephost.fish")]
        for command, script in checks:
            if shutil.which(command[0]):
                done = subprocess.run([*command, self.folder / script], capture_output=True, text=True, check=False,
                                      timeout=60)
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), script)


if __name__ == "__main__":
    unittest.main()
