-- accounts.sql - domains, users and aliases of a mail server, in a database
--
-- For PostgreSQL, MariaDB and SQLite.  zmailer reads it by definitions with
-- "preset zmailer domains", "... mailboxes", "... aliases" and "... passwords"
-- (zmailer-table(8)); zmailer user writes rows of users.  Names are in lower
-- case, domains as A-labels (xn--).
--
-- The daemons need SELECT alone.  zmailer user needs INSERT, UPDATE and DELETE
-- on users: give them to another login, in a definition of its own, and name
-- that with --table (zmailer-user(8)).
--
-- SPDX-License-Identifier: ISC

CREATE TABLE domains (
	name		varchar(255) NOT NULL PRIMARY KEY
);

-- who has a mailbox and may log in; password: {SCRAM-SHA-256}..., or what
-- crypt(3) or argon2 write
CREATE TABLE users (
	address		varchar(255) NOT NULL PRIMARY KEY,
	password	varchar(255) NOT NULL
);

-- several rows of an address are several targets; @DOMAIN has all of a domain;
-- a name without an @ is not looked for
CREATE TABLE aliases (
	address		varchar(255) NOT NULL,
	target		varchar(255) NOT NULL,
	PRIMARY KEY (address, target)
);
