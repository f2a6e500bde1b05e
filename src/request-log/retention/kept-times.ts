import { GRAIN_MS, startOf } from '../rollups/grains.js';

/** What of the request log has a time of its own: its rows, or the bodies (with headers) beside them. */
export type LogPart = 'logs' | 'bodies';

/** What an organization or one of its workspaces decided, and whether it is held. */
export interface RetentionRule {
  readonly organization_id: string;
  /** Null for the organization itself. */
  readonly workspace_id: string | null;
  /** Days; null where it decided nothing. */
  readonly logs: number | null;
  readonly bodies: number | null;
  /** Under a legal hold: nothing of it is over. */
  readonly held: boolean;
}

/** Of an organization, or of one of its workspaces. */
export interface RowsOf {
  readonly organization_id: string;
  readonly workspace_id: string | null;
}

/**
 * Since when rows and bodies are kept, by whose they are: what the workspace says, else its organization, else the
 * installation (where 0 means without limit). Whole days in UTC are kept. Bodies are kept no longer than their rows.
 */
export class KeptTimes {
  readonly #rules: ReadonlyMap<string, RetentionRule>;
  readonly #today: number;

  constructor(
    private readonly usual: Readonly<Record<LogPart, number>>,
    private readonly rules: readonly RetentionRule[],
    now = Date.now(),
  ) {
    this.#rules = new Map(rules.map((rule) => [keyOf(rule), rule]));
    this.#today = startOf('day', now);
  }

  /** The earliest time of arrival that is still kept, in milliseconds; -Infinity where everything is. */
  since(part: LogPart, whose: RowsOf): number {
    const own = this.#rules.get(keyOf(whose));
    const above = this.#rules.get(keyOf({ ...whose, workspace_id: null }));
    if (own?.held || above?.held) return -Infinity;
    const start = (of: LogPart): number => this.#start(own?.[of] ?? above?.[of] ?? this.usual[of]);
    return part === 'logs' ? start('logs') : Math.max(start('logs'), start('bodies'));
  }

  /** Before this moment something may be over; after it nothing is. */
  latest(part: LogPart): number {
    const days = this.rules.flatMap(({ logs, bodies }) => (part === 'logs' ? [logs] : [logs, bodies]));
    const usual = part === 'logs' ? [this.usual.logs] : [this.usual.logs, this.usual.bodies];
    return Math.max(...[...days, ...usual].map((each) => (each === null ? -Infinity : this.#start(each))));
  }

  /** What rows are kept by that belong to nobody. */
  usually(part: LogPart): number {
    return Math.max(
      this.#start(this.usual.logs),
      part === 'logs' ? -Infinity : this.#start(this.usual.bodies),
    );
  }

  /** Workspaces of an organization that are not simply as their organization is. */
  workspacesOf(organizationId: string): readonly string[] {
    return this.rules.flatMap(({ organization_id, workspace_id }) =>
      organization_id === organizationId && workspace_id !== null ? [workspace_id] : [],
    );
  }

  #start(days: number): number {
    return days === 0 ? -Infinity : this.#today - days * GRAIN_MS.day;
  }
}

const keyOf = ({ organization_id, workspace_id }: RowsOf): string =>
  `${organization_id} ${workspace_id ?? ''}`;
