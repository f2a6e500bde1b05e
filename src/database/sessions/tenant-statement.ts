import pg from 'pg';
import { type FieldDescription, RowShape } from './row-shape.js';

/** A statement, its parameters, and the name under which a session knows it; without a name it is parsed each time. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name: string | undefined;
}

/** What of `pg`'s connection a statement speaks to. */
interface Wire {
  readonly parsedStatements: Record<string, string>;
  close(message: { readonly type: 'S'; readonly name: string }): void;
  parse(message: { readonly name: string; readonly text: string }): void;
  bind(message: {
    readonly statement: string;
    readonly values: readonly unknown[];
    readonly valueMapper: (value: unknown) => unknown;
  }): void;
  execute(message: { readonly portal: string }): void;
  describe(message: { readonly type: string; readonly name: string }): void;
}

/** The steps of `pg.Query`, which its types leave out. */
interface Steps {
  name: string | undefined;
  readonly _result: { fields: readonly FieldDescription[]; readonly rows: unknown[] };
  /** What is told when the server is ready again. */
  _canceledDueToError: unknown;
  prepare(wire: Wire): void;
  requiresPreparation(): boolean;
  handleRowDescription(message: { readonly fields: readonly FieldDescription[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
}

type Callback = (error: Error | null, result: pg.QueryResult) => void;
type QueryClass = new (
  config: { text: string; values: unknown[]; name: string | undefined },
  callback: Callback,
) => Steps & pg.Submittable;

/** What is known of a connection's named statements: how their rows are read. */
interface ConnectionStatements {
  readonly shapes: Map<string, RowShape>;
  /** The connection itself, but that it asks for no description. */
  readonly undescribed: Wire;
}

const connections = new WeakMap<object, ConnectionStatements>();

function knownOf(wire: Wire): ConnectionStatements {
  const found = connections.get(wire.parsedStatements);
  if (found) return found;
  const undescribed = Object.assign(Object.create(wire) as Wire, { describe: () => undefined });
  const known = { shapes: new Map<string, RowShape>(), undescribed };
  connections.set(wire.parsedStatements, known);
  return known;
}

const NO_ROWS = RowShape.of([]);

/**
 * A statement that brings others with it, all in one round trip: PostgreSQL runs what stands before one Sync in its order, and
 * after a failure none of the rest, so the statement never runs when what goes before it did not. Without a START TRANSACTION
 * all of it is one transaction that ends by itself.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 *
 * What a named statement answers is described once in each session: PostgreSQL refuses to run one whose answer would look otherwise.
 */
class AccompaniedQuery extends (pg.Query as unknown as QueryClass) {
  private done = 0;
  private shape: RowShape | undefined;

  constructor(
    private readonly before: readonly Statement[],
    { text, values, name }: Statement,
    callback: Callback,
  ) {
    super({ text, values: [...values], name }, callback);
  }

  override requiresPreparation(): boolean {
    return true;
  }

  /** `pg` takes the first confirmation of a parsing for that of its own statement, which therefore gets no name beside another. */
  override prepare(wire: Wire): void {
    for (const { name = '', text, values } of this.before) {
      if (!isKnown(wire, name)) {
        // It may have been parsed before and then have failed, which is told of neither; there may be none to close.
        if (name !== '') wire.close({ type: 'S', name });
        wire.parse({ name, text });
        this.name = undefined;
      }
      wire.bind({ statement: name, values, valueMapper: asWritten });
      wire.execute({ portal: '' });
    }
    const known = knownOf(wire);
    this.shape = isKnown(wire, this.name ?? '') ? known.shapes.get(this.name ?? '') : undefined;
    super.prepare(this.shape ? known.undescribed : wire);
  }

  override handleRowDescription({ fields }: { readonly fields: readonly FieldDescription[] }): void {
    this.shape = RowShape.of(fields);
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.done < this.before.length || this._canceledDueToError) return;
    try {
      this._result.rows.push((this.shape ?? NO_ROWS).read(fields));
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    const step = this.before[this.done];
    if (!step) {
      this.complete(wire);
      return super.handleCommandComplete(message, wire);
    }
    this.done++;
    if (step.name) wire.parsedStatements[step.name] = step.text;
  }

  private complete(wire: Wire): void {
    const { shape = NO_ROWS, name } = this;
    this._result.fields = shape.fields;
    if (!name) return;
    const { shapes } = knownOf(wire);
    if (this._canceledDueToError) shapes.delete(name);
    else shapes.set(name, shape);
  }
}

/** As `pg` writes the parameters of its own statements; its types leave this out. */
const asWritten = (
  pg as unknown as { readonly utils: { readonly prepareValue: (value: unknown) => unknown } }
).utils.prepareValue;

const isKnown = ({ parsedStatements }: Wire, name: string): boolean =>
  name !== '' && parsedStatements[name] !== undefined;

/** Runs a statement after others, in one round trip, and answers what it alone came to. */
export function runAfter(
  connection: { query(statement: pg.Submittable): unknown },
  before: readonly Statement[],
  statement: Statement,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    connection.query(
      new AccompaniedQuery(before, statement, (error, result) => {
        if (error) reject(error);
        else resolve(result);
      }),
    );
  });
}
