import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The groups of one policy are counted off in a small index, by bands of what they used, and only the bands that a page lies in
 * are read and sorted.
 *
 * `period`: when a counter's period began, in seconds since the epoch; 0 for the period without an end. It is what stands
 * behind the @ of its key (`counterKey`).
 * `band`: the sixteenth of a power of two in which what was used lies: sign, exponent and four bits of the fraction of an
 * IEEE 754 number, which are in the order of the numbers (https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-FLOAT).
 *
 * Why not what was used itself: a charge would have to change all indexes of the table, each time (five times the WAL), for a list
 * that somebody looks at now and then. Of a counter that was charged a few times, the next charge stays in its band.
 * https://www.postgresql.org/docs/current/storage-hot.html
 *
 * The table is written anew, some 15 µs a counter; meanwhile processes serve what they have leased. It is vacuumed after a fiftieth of it
 * has changed, because counting in an index must look at the rows of pages that were not vacuumed since they changed.
 */
export class GroupsOfPolicies1763790000001 implements MigrationInterface {
  readonly name = 'GroupsOfPolicies1763790000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      ALTER TABLE limit_counters
        ADD COLUMN period bigint NOT NULL
          GENERATED ALWAYS AS (coalesce(substring(key FROM '@([0-9]{1,12})$')::bigint, 0)) STORED,
        ADD COLUMN is_exhausted boolean NOT NULL
          GENERATED ALWAYS AS (refused_at IS NOT NULL OR spent - forgiven >= amount) STORED,
        ADD COLUMN band smallint NOT NULL
          GENERATED ALWAYS AS (get_byte(float8send((spent - forgiven)::float8), 0) * 256
            + get_byte(float8send((spent - forgiven)::float8), 1)) STORED;
      CREATE INDEX limit_counters_of_groups ON limit_counters (organization_id, limit_id, period, band DESC, is_exhausted)
        WHERE group_text IS NOT NULL;
      DROP INDEX limit_counters_of_limit;
      ALTER TABLE limit_counters SET (autovacuum_vacuum_scale_factor = 0.02)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      ALTER TABLE limit_counters RESET (autovacuum_vacuum_scale_factor);
      CREATE INDEX limit_counters_of_limit ON limit_counters (limit_id, created_at DESC);
      DROP INDEX limit_counters_of_groups;
      ALTER TABLE limit_counters DROP COLUMN band, DROP COLUMN is_exhausted, DROP COLUMN period`);
  }
}
