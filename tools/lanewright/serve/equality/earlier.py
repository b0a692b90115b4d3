"""Arms that earlier runs have finished: found, taken over, forgotten once a comparison has ended."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lanewright.serve.engines import Arm, of_tree, result_name
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.found import read_found
from lanewright.serve.equality.key import BOOT_MAP, Side, key_of
from lanewright.serve.equality.note import Note, boot_map_digest, contents_of, read_note
from lanewright.store.atomic import replace_file, sync_folder
from lanewright.terminal import say


@dataclass(frozen=True)
class Resumed:
    """Where the answers of an arm are from that was not booted again.

    Attributes:
        run: Name of the folder of the run that booted it.
        finished: When, in UTC.
    """

    run: str
    finished: str


@dataclass(frozen=True, kw_only=True)
class Resuming:
    """How a comparison goes on behind an interrupted one.

    Attributes:
        runs: Has a folder for each run of the lane.
        tree: Id of the lane's tree.
        model: Hash of the model's files.
        asked: Whether arms are taken that an earlier run has finished.
        command: What to type so that they are.
    """

    runs: Path
    tree: str
    model: str
    asked: bool
    command: str


@dataclass(frozen=True)
class Arms:
    """The arms of a comparison, and which of them are finished, here and in earlier runs.

    Attributes:
        how: Whether arms are taken, and from where.
        folder: Where this run's answers go.
        arms: In the order they run, by the stem of their files.
        keys: Theirs, by the same.
        envs: What each is booted of, by the same.
    """

    how: Resuming
    folder: Path
    arms: Mapping[str, Arm]
    keys: Mapping[str, str]
    envs: Mapping[str, LaneEnv]

    @classmethod
    def of(
        cls, how: Resuming, folder: Path, sides: Sequence[Side], environ: Mapping[str, str]
    ) -> "Arms":
        """Key every arm of a comparison."""
        arms = {_stem(side, arm): arm for side in sides for arm in side.arms}
        keys = {
            _stem(side, arm): key_of(side, arm, model=how.model, environ=environ)
            for side in sides
            for arm in side.arms
        }
        envs = {_stem(side, arm): side.env for side in sides for arm in side.arms}
        return cls(how, folder, arms, keys, envs)

    def notes(self, side: Side) -> dict[str, dict[str, str]]:
        """What each arm of a side is to note, by its name."""
        run = self.folder.parent.name
        stems = {arm.name: _stem(side, arm) for arm in side.arms}
        return {
            name: {"file": str(self._note(stem)), "key": self.keys[stem], "run": run}
            for name, stem in stems.items()
        }

    def take(self) -> dict[str, Resumed]:
        """Bring over what earlier runs finished, where that is asked for; say what became of it.

        Raises:
            OSError: It cannot be written.
        """
        taken: dict[str, Resumed] = {}
        offered = 0
        for stem, arm in self.arms.items():
            note, contents = next(self._offers(stem), (None, {}))
            offered += note is not None
            # An arm whose map another one makes is behind that in order.
            if not note or note.boot_map != boot_map_digest(arm.engine.get(BOOT_MAP)):
                continue
            if self.how.asked:
                self._bring(stem, note, contents)
                taken[arm.name] = Resumed(note.run, note.finished)
        self._tell([*taken], offered)
        return taken

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Say, where the block is left before its end, how to go on behind what is finished."""
        try:
            yield
        except BaseException:
            count = sum(self._finished(stem, self._note(stem)) is not None for stem in self.arms)
            if count:
                say(
                    f"{count} of {len(self.arms)} arms are finished and kept; to go on behind"
                    f" them: {self.how.command}"
                )
            raise

    def forget(self) -> None:
        """End the comparison: no later one takes these arms, of whatever run.

        Notes of another tree stay, as all that this comparison would not have taken: they are of
        one that may still be going on.
        """
        for stem, key in self.keys.items():
            for file in self._noted(stem):
                if (note := read_note(file)) and note.key == key:
                    # One that stays is still taken only where that is asked for, and told.
                    with suppress(OSError):
                        file.unlink()

    def _offers(self, stem: str) -> Iterator[tuple[Note, dict[str, bytes]]]:
        """Yield what earlier runs left of an arm, newest first, where it is whole and fits."""
        for file in self._noted(stem):
            if file.parent != self.folder and (offer := self._finished(stem, file)):
                yield offer

    def _finished(self, stem: str, file: Path) -> tuple[Note, dict[str, bytes]] | None:
        """Read a note and the files of its arm; None where they are not whole, or do not fit."""
        note = read_note(file)
        if not note or note.key != self.keys[stem]:
            return None
        contents = contents_of(note, file.parent, self._left(stem))
        found = read_found((contents or {}).get(f"{stem}.json", b""), self.arms[stem])
        # An arm notes itself before it is known what it ran.
        if not contents or not found or not of_tree(self.envs[stem], found):
            return None
        return note, contents

    def _noted(self, stem: str) -> list[Path]:
        """The notes of an arm in all runs, newest first."""
        found = self.how.runs.glob(f"*/{self.folder.name}/{self._note(stem).name}")
        return sorted(found, reverse=True)

    def _bring(self, stem: str, note: Note, contents: Mapping[str, bytes]) -> None:
        for name, content in contents.items():
            replace_file(self.folder / name, content)
        sync_folder(self.folder)
        replace_file(self._note(stem), msgspec.json.encode(note))

    def _note(self, stem: str) -> Path:
        return self.folder / f"{stem}.finished.json"

    def _left(self, stem: str) -> list[str]:
        """Names of the files that an arm leaves."""
        keeps = self.arms[stem].keeps
        return [f"{stem}.json", *([Path(keeps).name] if keeps else [])]

    def _tell(self, taken: Sequence[str], offered: int) -> None:
        if taken:
            say(f"resuming: {len(taken)} of {len(self.arms)} arms are taken: {', '.join(taken)}")
        elif self.how.asked:
            say(
                "nothing to resume: no earlier run has left a finished arm that fits; all are booted"
            )
        elif offered:
            say(
                f"{offered} of {len(self.arms)} arms were finished by an interrupted run, and are"
                f" booted again; to take them: {self.how.command}"
            )


def _stem(side: Side, arm: Arm) -> str:
    return Path(result_name(side.name, arm)).stem
