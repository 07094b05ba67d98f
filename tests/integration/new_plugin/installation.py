"""Installs what a vendor of plugins has: the commands, the CPU provider and the SDK."""
import subprocess

COMPONENTS = ("libephost", "ephost", "plugin_cpu", "plugin_sdk")


def install(cmake, build, prefix):
    for component in COMPONENTS:
        subprocess.run([cmake, "--install", build, "--component", component, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
