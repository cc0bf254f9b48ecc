-- SPDX-License-Identifier: Apache-2.0
-- SPDX-FileCopyrightText: The ttmem authors
--
-- A history as the first format had it, table by table and word for word, with twenty seconds of one
-- process on one device. It must stay readable: do not change it.
PRAGMA application_id=1953787240;
PRAGMA user_version=1;
CREATE TABLE devices(number INTEGER PRIMARY KEY, unique_id INTEGER NOT NULL, arch INTEGER NOT NULL, mock INTEGER NOT NULL, shown_id INTEGER NOT NULL) STRICT;
CREATE TABLE points(tier INTEGER, slab INTEGER, series INTEGER, step INTEGER, first INTEGER, min INTEGER, max INTEGER, last INTEGER, PRIMARY KEY(tier, slab, series, step)) STRICT, WITHOUT ROWID;
CREATE TABLE run_devices(run INTEGER, device INTEGER, dram INTEGER, l1 INTEGER, l1_small INTEGER, trace INTEGER, program_l1 INTEGER, PRIMARY KEY(run, device)) STRICT, WITHOUT ROWID;
CREATE TABLE runs(id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL, segment TEXT NOT NULL, name TEXT NOT NULL, user TEXT NOT NULL, uid INTEGER NOT NULL, started INTEGER NOT NULL, first_seen INTEGER NOT NULL, ended_at INTEGER NOT NULL, ended TEXT NOT NULL, failures INTEGER NOT NULL) STRICT;
CREATE INDEX runs_by_process ON runs(boot_id, pid, start, segment);
CREATE TABLE series(id INTEGER PRIMARY KEY, metric TEXT NOT NULL, subject INTEGER NOT NULL, changed_s INTEGER NOT NULL, last INTEGER, open INTEGER NOT NULL) STRICT;
CREATE INDEX series_by_metric ON series(metric, open, changed_s);
CREATE TABLE tiers(tier INTEGER PRIMARY KEY, kept_from_s INTEGER NOT NULL) STRICT;
CREATE TABLE up(from_s INTEGER PRIMARY KEY, to_s INTEGER NOT NULL) STRICT;
INSERT INTO devices VALUES(1, 161, 2, 0, 0);
INSERT INTO series VALUES(1, 'dram.taken', 1, 1799971210, 200, 1);
INSERT INTO points VALUES(0, 14062275, 1, 1799971200, NULL, 100, 100, 100);
INSERT INTO points VALUES(0, 14062275, 1, 1799971210, 100, 100, 200, 200);
INSERT INTO points VALUES(1, 1406227, 1, 179997120, NULL, 100, 100, 100);
INSERT INTO points VALUES(1, 1406227, 1, 179997121, 100, 100, 200, 200);
INSERT INTO points VALUES(2, 46874, 1, 5999904, NULL, 100, 200, 200);
INSERT INTO run_devices VALUES(1, 1, 200, 0, 0, 0, 0);
INSERT INTO runs VALUES(1, 'boot', 9, 100, 'ttmem-9', 'model', 'user1', 0, 1799971200000000000, 1799971200000000000, 1799971220000000000, 'closed', 0);
INSERT INTO tiers VALUES(0, 1799967600);
INSERT INTO tiers VALUES(1, 1799884800);
INSERT INTO tiers VALUES(2, 1792195200);
INSERT INTO up VALUES(1799971200, 1799971219);
