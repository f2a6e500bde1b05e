/** The kinds of things whose change the processes must hear of, so that their caches forget. */
export const CHANGED_RESOURCES = [
  'api_key',
  'config',
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

/**
 * Tells every process that something changed. A message is a hint, never the only
 * means: caches also expire by themselves, so a dead bus delays a change by at most 30 s.
 */
export abstract class ChangePublisher {
  /** Announces a change. Inside a unit of work it is heard only if and after that commits. */
  abstract publish(change: Change): Promise<void>;
}

/** Where a process hears of changes, its own included. */
export abstract class ChangeFeed {
  /** Calls back for each change, and with null when messages may have been missed: forget everything then. */
  abstract subscribe(listener: (change: Change | null) => void): void;
}
