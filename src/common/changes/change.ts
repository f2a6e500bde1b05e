/** The kinds of resources whose changes invalidate caches in all processes. */
export const CHANGED_RESOURCES = [
  'api_key',
  'config',
  'guardrail',
  'integration',
  'organization',
  'secret_reference',
  'target',
  'user',
  'virtual_key',
  'workspace',
] as const;
export type ChangedResource = (typeof CHANGED_RESOURCES)[number];

export function isChangedResource(text: string): text is ChangedResource {
  return (CHANGED_RESOURCES as readonly string[]).includes(text);
}

export interface Change {
  readonly resource: ChangedResource;
  readonly id: string;
}

/** Maximum lifetime of a cache entry in milliseconds, and so the maximum delay of a change whose message is lost. */
export const UNHEARD_CHANGE_MS = 20_000;

/**
 * Notifies every process of a change. A message is a hint, never the only means: caches also expire by themselves, after
 * `UNHEARD_CHANGE_MS` at the latest.
 */
export abstract class ChangePublisher {
  /** Announces a change. Inside a unit of work, it is sent only after the commit. */
  abstract publish(change: Change): Promise<void>;
}

/** Delivers changes to a process, including its own. */
export abstract class ChangeFeed {
  /** Calls back for each change, and with null when messages may have been missed: then invalidate everything. */
  abstract subscribe(listener: (change: Change | null) => void): void;
}
