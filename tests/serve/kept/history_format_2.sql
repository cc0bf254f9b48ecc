-- SPDX-License-Identifier: Apache-2.0
-- SPDX-FileCopyrightText: The ttmem authors
--
-- What the second format added to the first, word for word. It must stay readable: do not change it.
PRAGMA user_version=2;
CREATE TABLE programs(minute_s INTEGER, unique_id INTEGER, name TEXT, pid INTEGER, process TEXT NOT NULL, launches INTEGER NOT NULL, replays INTEGER NOT NULL, PRIMARY KEY(minute_s, unique_id, name, pid)) STRICT, WITHOUT ROWID;
