import { Counter } from 'prom-client';

/** Work for people outside the process, which nobody waits for. */
const KINDS = ['mail', 'alert', 'export', 'analytics'] as const;
export type BackgroundKind = (typeof KINDS)[number];

/** What its jobs resolve to. All other results are of jobs that another process does or that became void. */
const OUTCOMES: Readonly<Record<string, 'done' | 'failed'>> = {
  sent: 'done',
  success: 'done',
  failed: 'failed',
};

const outcomes = new Counter({
  name: 'gatehouse_background_outcomes_total',
  help: 'Mails, limit alerts, log exports and analytics jobs, by kind and outcome; a failure that is retried counts each time.',
  labelNames: ['kind', 'outcome'],
});
for (const kind of KINDS) for (const outcome of ['done', 'failed']) outcomes.inc({ kind, outcome }, 0);

/** Counts how the work ends. Resolves and rejects as it does. */
export async function countOutcome<T extends string>(kind: BackgroundKind, work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    const outcome = OUTCOMES[result];
    if (outcome) outcomes.inc({ kind, outcome });
    return result;
  } catch (error) {
    outcomes.inc({ kind, outcome: 'failed' });
    throw error;
  }
}
