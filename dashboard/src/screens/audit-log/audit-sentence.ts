import type { AuditRecord } from '../../api/audit';
import { auditWords } from '../../words/audit';

/** Fields that name a resource for a reader, the best first. */
const NAMES = ['name', 'email', 'title', 'slug', 'model'] as const;

type AuditedAction = Pick<AuditRecord, 'action' | 'resource_type' | 'outcome'>;

/** "Created API key"; "Create API key" for an attempt that was refused or failed. */
export function sentenceOf({ action, resource_type, outcome }: AuditedAction): string {
  const [done, attempt] = auditWords.actions[action] ?? [plain(action), plain(action)];
  return `${outcome === 'success' ? done : attempt} ${auditWords.resources[resource_type] ?? plain(resource_type).toLowerCase()}`;
}

type AuditedThing = Pick<AuditRecord, 'before' | 'after' | 'request_body'>;

/** The name of the resource: as it is now, as it was, or as the request called it. Null if none of them has one. */
export function subjectOf({ after, before, request_body }: AuditedThing): string | null {
  for (const source of [after, before, parsed(request_body)]) {
    const name = NAMES.map((field) => source?.[field]).find(isName);
    if (name !== undefined) return name;
  }
  return null;
}

/** `***` stands for a masked value. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value !== '***';

/** `usage_limits` becomes "Usage limits". */
function plain(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function parsed(text: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}
