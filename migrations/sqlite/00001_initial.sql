-- Times are microseconds since 1970 in UTC; 0 is none. Paths and names are text
-- that sorts by its bytes and may hold NUL.

-- +goose Up
CREATE TABLE identity (
    id TEXT NOT NULL -- of the only row: what tells this database from others
);

INSERT INTO identity (id) VALUES (lower(hex(randomblob(16))));

CREATE TABLE repositories (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT    NOT NULL,
    session       TEXT    NOT NULL,
    source        TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    url_folded    TEXT    NOT NULL, -- lower case, for comparing
    branch        TEXT    NOT NULL,
    description   TEXT    NOT NULL,
    path          TEXT    NOT NULL, -- of what readers see, as are the options
    options       TEXT    NOT NULL, -- JSON
    latest_run    INTEGER NOT NULL DEFAULT 0,
    published_run INTEGER NOT NULL DEFAULT 0, -- what the tools read; 0 = none yet
    text_run      INTEGER NOT NULL DEFAULT 0, -- what the session tools read
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    deleted       INTEGER NOT NULL DEFAULT 0  -- 1 = gone for every reader; its rows are being removed
);

CREATE UNIQUE INDEX repositories_session ON repositories (session)
    WHERE deleted = 0;

CREATE UNIQUE INDEX repositories_url ON repositories (url_folded)
    WHERE deleted = 0 AND url_folded <> '';

CREATE TABLE runs (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    repository_id   INTEGER NOT NULL REFERENCES repositories (id),
    status          TEXT    NOT NULL,
    phase           TEXT    NOT NULL,
    trigger         TEXT    NOT NULL,
    force           INTEGER NOT NULL,
    path            TEXT    NOT NULL, -- the repository's once the run is published
    options         TEXT    NOT NULL, -- likewise
    attempt         INTEGER NOT NULL DEFAULT 0,
    crashes         INTEGER NOT NULL DEFAULT 0, -- attempts that were never ended
    priority        TEXT    NOT NULL,
    commit_sha      TEXT    NOT NULL DEFAULT '',
    total_files     INTEGER NOT NULL DEFAULT 0,
    processed_files INTEGER NOT NULL DEFAULT 0,
    text_files      INTEGER NOT NULL DEFAULT 0,
    kept_files      INTEGER NOT NULL DEFAULT 0,
    parsed_files    INTEGER NOT NULL DEFAULT 0,
    entities        INTEGER NOT NULL DEFAULT 0,
    bytes           INTEGER NOT NULL DEFAULT 0,
    skipped         TEXT    NOT NULL DEFAULT '{}', -- JSON: reason -> number
    peak_memory     INTEGER NOT NULL DEFAULT 0,
    language        TEXT    NOT NULL DEFAULT '',
    framework       TEXT    NOT NULL DEFAULT '',
    error           TEXT    NOT NULL DEFAULT '',
    notice          TEXT    NOT NULL DEFAULT '',
    created_at      INTEGER NOT NULL,
    started_at      INTEGER NOT NULL DEFAULT 0,
    heartbeat_at    INTEGER NOT NULL DEFAULT 0,
    finished_at     INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX runs_repository ON runs (repository_id, id);

-- At most one run of a repository is going.
CREATE UNIQUE INDEX runs_going ON runs (repository_id)
    WHERE status IN ('pending', 'processing');

-- A file is visible in run R when from_run <= R and R < until_run (NULL = open).
-- What the symbol pass found in it is visible in run R when symbols_run <= R.
CREATE TABLE files (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    repository_id INTEGER NOT NULL REFERENCES repositories (id),
    path          TEXT    NOT NULL,
    hash          TEXT    NOT NULL,
    language      TEXT    NOT NULL,
    size          INTEGER NOT NULL,
    lines         INTEGER NOT NULL,
    generated     INTEGER NOT NULL,
    test          INTEGER NOT NULL,
    stamp         TEXT    NOT NULL,
    from_run      INTEGER NOT NULL,
    until_run     INTEGER,
    symbols_run   INTEGER, -- NULL = the symbol pass has not been here
    parser        INTEGER NOT NULL DEFAULT 0,
    entities      INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX files_path ON files (repository_id, path, from_run, until_run);

-- At most one file of a path is open.
CREATE UNIQUE INDEX files_open ON files (repository_id, path)
    WHERE until_run IS NULL;

CREATE INDEX files_until ON files (repository_id, until_run)
    WHERE until_run IS NOT NULL;

CREATE INDEX files_from ON files (repository_id, from_run);

CREATE INDEX files_symbols ON files (repository_id, symbols_run);

-- Texts are apart so that a scan of files does not read them.
CREATE TABLE file_texts (
    file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
    text    TEXT    NOT NULL
);

CREATE TABLE entities (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id     INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    type        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    name_folded TEXT    NOT NULL, -- store.Fold of the name, for comparing
    description TEXT    NOT NULL,
    signature   TEXT    NOT NULL,
    line_start  INTEGER NOT NULL,
    line_end    INTEGER NOT NULL,
    start_byte  INTEGER NOT NULL,
    end_byte    INTEGER NOT NULL,
    name_line   INTEGER NOT NULL
);

CREATE INDEX entities_file ON entities (file_id, line_start, type);

CREATE TABLE spans (
    file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
    data    BLOB    NOT NULL -- store.EncodeSpans
);

CREATE TABLE skips (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    path   TEXT    NOT NULL,
    reason TEXT    NOT NULL,
    PRIMARY KEY (run_id, path)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE skips;
DROP TABLE spans;
DROP TABLE entities;
DROP TABLE file_texts;
DROP TABLE files;
DROP TABLE runs;
DROP TABLE repositories;
DROP TABLE identity;
