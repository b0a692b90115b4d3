"""Debian's part of a base: a small root with Python, the same bytes from the same archive."""

from pathlib import Path

from lanewright.image.base.recipe import Recipe
from lanewright.image.base.tools import is_root, run_step

# Licences stay; what nobody reads in a container does not.
EXCLUDED = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*")
KEPT = "/usr/share/doc/*/copyright"
# Else the image tells the machine that it was made on.
OF_THIS_MACHINE = ("etc/hostname", "etc/resolv.conf", "etc/hosts")
LOGS = ("var/log/alternatives.log", "var/log/apt", "var/log/dpkg.log", "var/cache/ldconfig")


def root_command(recipe: Recipe, archive: Path) -> list[str]:
    """The call of mmdebstrap that writes a root."""
    options = [f"path-exclude={each}" for each in EXCLUDED]
    # Whoever loses power makes it again.
    options += [f"path-include={KEPT}", "force-unsafe-io"]
    empty = " && ".join(f': > "$1/{each}" && chmod 0644 "$1/{each}"' for each in OF_THIS_MACHINE)
    remove = " ".join(f'"$1/{each}"' for each in LOGS)
    return [
        *("mmdebstrap", "--quiet", f"--mode={'root' if is_root() else 'unshare'}"),
        *("--variant=minbase", f"--architectures={recipe.architecture}"),
        *(f"--include={','.join(recipe.packages)}", "--format=tar"),
        # Containers bring their own, and an ordinary user could make none.
        "--skip=output/dev",
        *(f"--dpkgopt={each}" for each in options),
        f"--customize-hook={empty}",
        f"--customize-hook=rm -rf {remove}",
        recipe.suite,
        str(archive),
    ]


def make_root(recipe: Recipe, archive: Path, temporary: Path) -> None:
    """Write the root as an archive.

    Args:
        recipe: Says suite, packages and time.
        archive: Where to.
        temporary: Folder for what is made on the way, where this is root; else ``/tmp`` has it, for
            mmdebstrap is another user then.

    Raises:
        LanewrightError: mmdebstrap fails: no network, no room, or a kernel that does not let users
            make namespaces.
    """
    environ = {"SOURCE_DATE_EPOCH": str(recipe.time)}
    if is_root():
        environ["TMPDIR"] = str(temporary)
    run_step(root_command(recipe, archive), f"make Debian {recipe.suite} with mmdebstrap", environ)
