import { hash } from 'node:crypto';
import { isNameUnknown } from '../database-errors.js';

/** A text that was seen less often is not worth its memory in every session. */
const SEEN_OFTEN = 3;
/** Of texts whose uses are counted, and of those that have a name. Each name costs every session some 30 kB. */
const COUNTED_AT_MOST = 1_000;
const NAMED_AT_MOST = 200;

/** A column has another type since: https://www.postgresql.org/docs/current/sql-prepare.html */
const OUT_OF_DATE = 'cached plan must not change result type';

/**
 * Names for statements that come again and again: PostgreSQL parses a named one once in each session, and after five uses
 * has a plan for it. The name is made of the text, so that two processes behind one pool never mean different statements by
 * the same name.
 *
 * A pool in front of the database that does not know of names answers that there is no such statement, or that there is
 * one already. From then on this process names none.
 */
export class StatementNames {
  private readonly uses = new Map<string, number>();
  private readonly names = new Map<string, string>();
  private areUsable = true;

  /** Undefined for a text without a name. */
  of(text: string): string | undefined {
    return this.areUsable ? (this.names.get(text) ?? this.nameOnceOften(text)) : undefined;
  }

  /** Of a text that is the same in every request. */
  ofOwn(text: string): string | undefined {
    return this.areUsable ? (this.names.get(text) ?? this.named(text)) : undefined;
  }

  /** Looks whether a failure says that names do not work here. */
  hear(failure: unknown): void {
    const isOutOfDate = failure instanceof Error && failure.message === OUT_OF_DATE;
    if (isNameUnknown(failure) || isOutOfDate) this.areUsable = false;
  }

  private nameOnceOften(text: string): string | undefined {
    if (this.names.size >= NAMED_AT_MOST) return undefined;
    const uses = (this.uses.get(text) ?? 0) + 1;
    if (uses >= SEEN_OFTEN) return this.named(text);
    if (this.uses.size >= COUNTED_AT_MOST) this.uses.clear();
    this.uses.set(text, uses);
    return undefined;
  }

  private named(text: string): string {
    const name = `gatehouse_${hash('sha256', text, 'base64url').slice(0, 22)}`;
    this.uses.delete(text);
    this.names.set(text, name);
    return name;
  }
}
