"""The tables of the history, form by form."""

# A run is named by its lane and its folder there, a night by its folder. `stamp` and `digest` tell
# whether the file that the rows are from has changed since; a later form that reads more of it sets
# both to '' and has all that is still on disk taken in again.
FIRST = (
    """
    CREATE TABLE nights (
        name TEXT PRIMARY KEY, started TEXT NOT NULL, finished TEXT, lanewright TEXT NOT NULL,
        project TEXT NOT NULL, "commit" TEXT, pruned TEXT,
        stamp TEXT NOT NULL, digest TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    # What no step tells stays null.
    """
    CREATE TABLE night_lanes (
        night TEXT NOT NULL REFERENCES nights (name) ON DELETE CASCADE,
        position INTEGER NOT NULL, lane TEXT NOT NULL, commits_behind INTEGER,
        PRIMARY KEY (night, position)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX nights_of_lane ON night_lanes (lane, night)",
    # A step may name a run whose record is not here, so that is no foreign key.
    """
    CREATE TABLE steps (
        night TEXT NOT NULL REFERENCES nights (name) ON DELETE CASCADE,
        position INTEGER NOT NULL, name TEXT NOT NULL,
        command TEXT NOT NULL CHECK (json_valid(command)), lane TEXT,
        verdict TEXT NOT NULL, exit_code INTEGER, started TEXT, seconds REAL, why TEXT NOT NULL,
        run TEXT,
        PRIMARY KEY (night, position)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX steps_of_lane ON steps (lane, night)",
    """
    CREATE TABLE pulls (
        night TEXT NOT NULL REFERENCES nights (name) ON DELETE CASCADE,
        lane TEXT NOT NULL, number INTEGER NOT NULL, standing TEXT NOT NULL, head TEXT, newest TEXT,
        title TEXT NOT NULL, state TEXT NOT NULL, merged_as TEXT NOT NULL, note TEXT NOT NULL,
        told TEXT NOT NULL CHECK (json_valid(told)),
        PRIMARY KEY (night, lane, number)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE runs (
        lane TEXT NOT NULL, folder TEXT NOT NULL, started TEXT NOT NULL, finished TEXT NOT NULL,
        lanewright TEXT NOT NULL, pin_ref TEXT NOT NULL, pin_commit TEXT NOT NULL,
        tree TEXT NOT NULL, layer TEXT, lock TEXT NOT NULL, model TEXT, equality TEXT,
        verdict TEXT NOT NULL, exit_code INTEGER NOT NULL, error TEXT, pruned TEXT,
        stamp TEXT NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (lane, folder)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX runs_by_start ON runs (started, lane, folder)",
    """
    CREATE TABLE entries (
        lane TEXT NOT NULL, run TEXT NOT NULL, position INTEGER NOT NULL,
        name TEXT NOT NULL, kind TEXT NOT NULL,
        PRIMARY KEY (lane, run, position),
        FOREIGN KEY (lane, run) REFERENCES runs (lane, folder) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE outcomes (
        lane TEXT NOT NULL, run TEXT NOT NULL, entry INTEGER NOT NULL,
        outcome TEXT NOT NULL, hunks INTEGER NOT NULL,
        PRIMARY KEY (lane, run, entry, outcome),
        FOREIGN KEY (lane, run, entry) REFERENCES entries (lane, run, position) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE equality (
        lane TEXT NOT NULL, run TEXT NOT NULL, position INTEGER NOT NULL, mode TEXT NOT NULL,
        arm TEXT NOT NULL, role TEXT NOT NULL, equal INTEGER NOT NULL, prompts INTEGER NOT NULL,
        verdict TEXT NOT NULL, first INTEGER,
        PRIMARY KEY (lane, run, position),
        FOREIGN KEY (lane, run) REFERENCES runs (lane, folder) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE proofs (
        lane TEXT NOT NULL, run TEXT NOT NULL, position INTEGER NOT NULL, place TEXT NOT NULL,
        feature TEXT NOT NULL, "on" INTEGER NOT NULL, text TEXT NOT NULL,
        facts TEXT NOT NULL CHECK (json_valid(facts)),
        PRIMARY KEY (lane, run, position),
        FOREIGN KEY (lane, run) REFERENCES runs (lane, folder) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE timings (
        lane TEXT NOT NULL, run TEXT NOT NULL, place TEXT NOT NULL, what TEXT NOT NULL,
        seconds REAL NOT NULL,
        PRIMARY KEY (lane, run, place, what),
        FOREIGN KEY (lane, run) REFERENCES runs (lane, folder) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE throughput (
        lane TEXT NOT NULL, run TEXT NOT NULL, mode TEXT NOT NULL, arm TEXT NOT NULL,
        tokens INTEGER NOT NULL, seconds REAL NOT NULL, measured_in TEXT NOT NULL,
        PRIMARY KEY (lane, run, mode, arm),
        FOREIGN KEY (lane, run) REFERENCES runs (lane, folder) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
)
# What a night's report and its look at upstream say in numbers.
SECOND = (
    "ALTER TABLE night_lanes ADD COLUMN conflicts INTEGER",
    "UPDATE nights SET stamp = '', digest = '' WHERE pruned IS NULL",
)
# What throughput is judged by: on which hardware and on how many cores, and by which least drift.
THIRD = (
    "ALTER TABLE runs ADD COLUMN hardware TEXT",
    "ALTER TABLE runs ADD COLUMN drift REAL",
    "ALTER TABLE throughput ADD COLUMN cores INTEGER",
    "UPDATE runs SET stamp = '', digest = '' WHERE pruned IS NULL",
)
# What became of entries by a night's report, whether or not a boot followed.
FOURTH = (
    """
    CREATE TABLE reported (
        night TEXT NOT NULL REFERENCES nights (name) ON DELETE CASCADE,
        lane TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
        hunks TEXT NOT NULL CHECK (json_valid(hunks)),
        PRIMARY KEY (night, lane, position)
    ) STRICT, WITHOUT ROWID
    """,
    "UPDATE nights SET stamp = '', digest = '' WHERE pruned IS NULL",
)
