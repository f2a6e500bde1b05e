import { GRANULARITY_MS, startOf } from '../rollups/granularities.js';

/** The parts of the request log with separate retention: its rows, or their bodies (with headers). */
export type LogPart = 'logs' | 'bodies';

/** The retention settings of an organization or workspace, and whether it is under a legal hold. */
export interface RetentionRule {
  readonly organization_id: string;
  /** Null for the organization itself. */
  readonly workspace_id: string | null;
  /** Days; null without an own setting. */
  readonly logs: number | null;
  readonly bodies: number | null;
  /** Under a legal hold: nothing expires. */
  readonly held: boolean;
}

/** Of an organization, or of one of its workspaces. */
export interface RowsOf {
  readonly organization_id: string;
  readonly workspace_id: string | null;
}

/**
 * The time from which rows and bodies are kept, by owner: the setting of the workspace, else of its organization, else of the installation
 * (where 0 means without limit). Retention counts whole days in UTC. Bodies are kept no longer than their rows.
 */
export class KeptTimes {
  private readonly rulesById: ReadonlyMap<string, RetentionRule>;
  private readonly today: number;

  constructor(
    private readonly usual: Readonly<Record<LogPart, number>>,
    private readonly rules: readonly RetentionRule[],
    now = Date.now(),
  ) {
    this.rulesById = new Map(rules.map((rule) => [keyOf(rule), rule]));
    this.today = startOf('day', now);
  }

  /** The earliest arrival time that is kept, in milliseconds; -Infinity when everything is. */
  since(part: LogPart, whose: RowsOf): number {
    const own = this.rulesById.get(keyOf(whose));
    const above = this.rulesById.get(keyOf({ ...whose, workspace_id: null }));
    if (own?.held || above?.held) return -Infinity;
    const start = (of: LogPart): number => this.start(own?.[of] ?? above?.[of] ?? this.usual[of]);
    return part === 'logs' ? start('logs') : Math.max(start('logs'), start('bodies'));
  }

  /** Anything after this time is kept in every scope. */
  latest(part: LogPart): number {
    const days = this.rules.flatMap(({ logs, bodies }) => (part === 'logs' ? [logs] : [logs, bodies]));
    const usual = part === 'logs' ? [this.usual.logs] : [this.usual.logs, this.usual.bodies];
    return Math.max(...[...days, ...usual].map((each) => (each === null ? -Infinity : this.start(each))));
  }

  /** For rows without an owner. */
  usually(part: LogPart): number {
    return Math.max(this.start(this.usual.logs), part === 'logs' ? -Infinity : this.start(this.usual.bodies));
  }

  /** Workspaces whose retention differs from their organization's. */
  workspacesOf(organizationId: string): readonly string[] {
    return this.rules.flatMap(({ organization_id, workspace_id }) =>
      organization_id === organizationId && workspace_id !== null ? [workspace_id] : [],
    );
  }

  private start(days: number): number {
    return days === 0 ? -Infinity : this.today - days * GRANULARITY_MS.day;
  }
}

const keyOf = ({ organization_id, workspace_id }: RowsOf): string =>
  `${organization_id} ${workspace_id ?? ''}`;
