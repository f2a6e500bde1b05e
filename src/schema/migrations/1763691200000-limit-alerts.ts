import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who is told that a budget's threshold or end was reached. The event is a row that the storing of attempts writes once for
 * each period of a budget, whichever process crossed it; with it, in the same transaction, come the alerts: one for each way
 * of telling. A reset of the budget removes both, so that the next crossing is told again.
 */
export class LimitAlerts1763691200000 implements MigrationInterface {
  readonly name = 'LimitAlerts1763691200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      ALTER TABLE organizations ADD COLUMN alert_webhook_url text, ADD COLUMN sealed_alert_secret bytea;
      CREATE TABLE limit_alerts (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        organization_id uuid NOT NULL,
        counter text NOT NULL,
        kind text NOT NULL,
        channel text NOT NULL CHECK (channel IN ('mail', 'webhook')),
        leased_until timestamptz,
        done_at timestamptz,
        outcome text CHECK (outcome IN ('sent', 'void')),
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (counter, kind, channel),
        FOREIGN KEY (counter, kind) REFERENCES limit_events (counter, kind) ON DELETE CASCADE
      );
      CREATE INDEX waiting_limit_alerts ON limit_alerts (created_at) WHERE done_at IS NULL;
      CREATE FUNCTION alert_of_limit_event() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO limit_alerts (organization_id, counter, kind, channel)
        SELECT NEW.organization_id, NEW.counter, NEW.kind, channel FROM unnest(ARRAY['mail', 'webhook']) AS channel;
        RETURN NULL;
      END $$;
      CREATE TRIGGER alert_of_limit_event AFTER INSERT ON limit_events
        FOR EACH ROW EXECUTE FUNCTION alert_of_limit_event();
    `);
    await runner.query("SELECT protect_tenant_table('limit_alerts')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP TRIGGER alert_of_limit_event ON limit_events;
      DROP FUNCTION alert_of_limit_event();
      DROP TABLE limit_alerts;
      ALTER TABLE organizations DROP COLUMN alert_webhook_url, DROP COLUMN sealed_alert_secret;
    `);
  }
}
