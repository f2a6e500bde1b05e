import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Signed tokens give no more than the user who set them up has now, so the setting names that user. Settings without one count as an
 * admin's. No foreign key: after the removal of its author, the setting must not pass for one without an author.
 */
export class AuthorOfTokenRules1763800020030 implements MigrationInterface {
  readonly name = 'AuthorOfTokenRules1763800020030';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE organization_jwt ADD COLUMN author_id uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE organization_jwt DROP COLUMN author_id');
  }
}
