import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where stored requests are sent on to, how far each has come, and which object holds a body that left the database. */
export class LogSinks1763691540000 implements MigrationInterface {
  readonly name = 'LogSinks1763691540000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statement of [NUMBERS, SINKS, OBJECTS]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP TABLE log_sinks;
      DROP INDEX log_batches_unnumbered, log_batches_by_number;
      ALTER TABLE log_batches DROP COLUMN seq;
      DROP SEQUENCE log_batch_numbers;
      ALTER TABLE request_bodies DROP COLUMN object_key, DROP COLUMN object_offset, DROP COLUMN object_length;
    `);
  }
}

/**
 * Batches do not become visible in the order of their ids, so a cursor over ids would pass by those that come late. They are
 * numbered after their commit, by one process at a time: whoever sees a number sees all that are lower.
 */
const NUMBERS = `
  CREATE SEQUENCE log_batch_numbers;
  ALTER TABLE log_batches ADD COLUMN seq bigint;
  CREATE INDEX log_batches_unnumbered ON log_batches (created_at) WHERE seq IS NULL;
  CREATE UNIQUE INDEX log_batches_by_number ON log_batches (seq) WHERE seq IS NOT NULL`;

/** The columns of a cursor are those of \`audit_destinations\`. Of the operator, so of no organization. */
const SINKS = `
  CREATE TABLE log_sinks (
    id text PRIMARY KEY,
    delivered_seq bigint NOT NULL CHECK (delivered_seq >= 0),
    delivered_at timestamptz,
    failures integer NOT NULL DEFAULT 0,
    last_error text,
    failing_since timestamptz,
    next_try_at timestamptz NOT NULL DEFAULT now(),
    leased_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
  )`;

/** Where \`body\` is null and a key is there, the sealed body is so many bytes of that object. */
const OBJECTS = `
  ALTER TABLE request_bodies ADD COLUMN object_key text, ADD COLUMN object_offset bigint, ADD COLUMN object_length integer`;
