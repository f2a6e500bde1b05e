/** The kinds of things whose change the processes must be notified of, so that their caches forget. */
export const CHANGED_RESOURCES = [
  'api_key',
  'config',
  'guardrail',
  'integration',
  'organization',
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

/** How old an entry of a cache may get, milliseconds, and so how late a change is noticed whose message is lost. */
export const UNHEARD_CHANGE_MS = 20_000;

/**
 * Tells every process that something changed. A message is a hint, never the only means: caches also expire by themselves, after
 * `UNHEARD_CHANGE_MS` at the latest.
 */
export abstract class ChangePublisher {
  /** Announces a change. Inside a unit of work it is heard only if and after that commits. */
  abstract publish(change: Change): Promise<void>;
}

/** Where a process is notified of changes, its own included. */
export abstract class ChangeFeed {
  /** Calls back for each change, and with null when messages may have been missed: forget everything then. */
  abstract subscribe(listener: (change: Change | null) => void): void;
}
