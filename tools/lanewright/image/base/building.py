"""A root and a wheelhouse become an image, offline, in a storage of its own."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from lanewright.image.base.documents import write_documents
from lanewright.image.base.recipe import Recipe
from lanewright.image.base.tools import BUILDERS, builder, is_root, run_step
from lanewright.image.base.wheelhouse import LIST, torch_hash
from lanewright.image.stamps import PREFIX

TITLE = "Base of lanes that vLLM serves on a CPU"


def labels(recipe: Recipe, wheels: Path) -> dict[str, str]:
    """What a base says of itself."""
    listed = hashlib.sha256((wheels / LIST).read_bytes()).hexdigest()
    standard = {
        "created": recipe.created,
        "title": TITLE,
        "description": f"Debian {recipe.suite}, torch {recipe.torch}, {recipe.distribution}"
        f" {recipe.version}",
        "version": recipe.version,
    }
    own = {
        "debian": recipe.suite,
        "environment": f"sha256:{listed}",
        "left-out": " ".join(recipe.left_out),
        "recipe": f"sha256:{recipe.key}",
        "torch": recipe.torch,
        "torch-wheel": torch_hash(wheels),
        "vllm": f"{recipe.distribution} {recipe.version}",
        "vllm-wheel": recipe.digest,
    }
    return {
        **{f"org.opencontainers.image.{name}": value for name, value in standard.items()},
        **{f"{PREFIX}base.{name}": value for name, value in own.items()},
    }


def build_command(
    tool: str,
    recipe: Recipe,
    *,
    context: Path,
    wheels: Path,
    storage: Path,
    run: Path,
    layout: Path,
) -> list[str]:
    """The call of buildah or podman that writes the layout."""
    said = [f"--label={name}={value}" for name, value in labels(recipe, wheels).items()]
    return [
        *(tool, "--root", str(storage), "--runroot", str(run)),
        # Copies files; nothing stays mounted when it is killed, and any filesystem does.
        *("--storage-driver", "vfs"),
        *("build", "--layers=false", "--timestamp", str(recipe.time), "--identity-label=false"),
        # Takes neither control groups nor devices, so that it works within a container, too.
        *("--isolation", "chroot", "--format", "oci", f"--build-context=wheels={wheels}"),
        *(*said, f"--tag=oci:{layout}", "--file", str(context / "Containerfile"), str(context)),
    ]


def build_layout(recipe: Recipe, scratch: Path, wheels: Path) -> Path:
    """Put a base together.

    Args:
        recipe: As the labels tell it.
        scratch: Folder for all that is made on the way; ``context/root.tar`` is there.
        wheels: The wheelhouse.

    Returns:
        The layout in ``scratch``: one image of one layer, for one platform.

    Raises:
        LanewrightError: The tool fails.
    """
    context, storage, layout = scratch / "context", scratch / "storage", scratch / "layout"
    (context / "Containerfile").write_text(recipe.containerfile)
    (context / "compiling.py").write_text(recipe.compiling)
    temporary = scratch / "temporary"
    temporary.mkdir(exist_ok=True)
    tool = builder() or BUILDERS[0]
    with _run_folder(tool, scratch) as run:
        command = build_command(
            tool,
            recipe,
            context=context,
            wheels=wheels,
            storage=storage,
            run=run,
            layout=layout,
        )
        run_step(command, f"install the wheels with {tool}", {"TMPDIR": str(temporary)})
    write_documents(recipe, layout)
    return layout


@contextmanager
def _run_folder(tool: str, scratch: Path) -> Iterator[Path]:
    """Where a builder notes what it runs; podman takes no path of more than 50 characters."""
    if tool != "podman":
        yield scratch / "run"
        return
    with TemporaryDirectory(prefix="lanewright-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def remove(folder: Path) -> None:
    """Remove a folder in which a user namespace's root has written, too."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists() and not is_root():
        tool = builder() or BUILDERS[0]
        # They are another user's outside, and only a namespace like theirs may remove them.
        subprocess.run(
            [tool, "unshare", "rm", "-rf", "--", str(folder)],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
