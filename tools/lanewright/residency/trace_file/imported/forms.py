"""The forms by name, and which a file's name speaks for."""

from collections.abc import Callable, Mapping
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.residency.trace_file.engine_file import read_engine_file
from lanewright.residency.trace_file.imported.arrays import read_arrays
from lanewright.residency.trace_file.imported.layer_files import read_layer_files
from lanewright.residency.trace_file.imported.rows import read_rows
from lanewright.residency.trace_file.imported.source import Said
from lanewright.residency.trace_file.recorded import Recorded

HINT = (
    "docs/trace.md lists the forms; a torch file (.pt) is a pickle: save its arrays with numpy.save"
)


def _engine(files: list[Path], said: Said) -> Recorded:
    if len(files) != 1:
        raise ValueError(f"{len(files)} files, and an engine writes one")
    return read_engine_file(files[0], model=said.model)


FORMS: Mapping[str, Callable[[list[Path], Said], Recorded]] = {
    "engine": _engine,
    "arrays": read_arrays,
    "layers": read_layer_files,
    "rows": read_rows,
}
BY_SUFFIX = {".picks": "engine", ".npy": "arrays", ".parquet": "layers", ".csv": "rows"}


def read_imported(files: list[Path], form: str | None, said: Said) -> Recorded:
    """Read files of one form.

    Args:
        files: In order.
        form: A key of ``FORMS``; None to go by the files' names.
        said: What the form leaves open.

    Raises:
        LanewrightError: There is no such file, its form is not known, or it is not of it.
    """
    for file in files:
        if not file.is_file():
            raise LanewrightError(f"{file}: there is no such file", hint=HINT)
    suffixes = {file.suffix for file in files}
    by_name = BY_SUFFIX.get(next(iter(suffixes))) if len(suffixes) == 1 else None
    if (name := form or by_name) is None:
        raise LanewrightError(
            f"{files[0]}: its name does not tell its form", hint=f"--form says it; {HINT}"
        )
    try:
        return FORMS[name](files, said)
    except OSError as error:
        raise LanewrightError(f"{error.filename}: {error.strerror}", hint=HINT) from error
    except ValueError as error:
        where = "" if any(str(file) in str(error) for file in files) else f"{files[0]}: "
        raise LanewrightError(f"{where}{error} (read as {name})", hint=HINT) from error
