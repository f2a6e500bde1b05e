/** How long a loaded value may be used, in milliseconds since the load began. */
export interface Ages {
  /** Up to this age, it is served as it is. */
  readonly softMs: number;
  /** Up to this age, it is served while a newer one loads in the background; beyond it, lookups wait for the newer one. */
  readonly hardMs: number;
  /** Up to this age, it is served if the store is unavailable. */
  readonly staleMs: number;
}

export interface RememberedValue<Asked, Value> {
  readonly value: Value;
  readonly ids: readonly string[];
  readonly loadedAt: number;
  readonly ages: Ages;
  /** The era of its load. A value of an earlier era must be reloaded; until then it is served only while the store is unavailable. */
  readonly era: number;
  /** When a lookup last waited for a newer value or started its load. */
  wantedAt: number;
  /** The lookup and row it was built from, for snapshots; null if no snapshots are written. */
  readonly source: { readonly asked: Asked; readonly row: string } | null;
}

/** Values by cache key and by the ids they are built from. The least recently read is dropped first. */
export class RememberedValues<Asked, Value> {
  private readonly values = new Map<string, RememberedValue<Asked, Value>>();
  private readonly keysOf = new Map<string, Set<string>>();

  constructor(private readonly most: number) {}

  get(key: string): RememberedValue<Asked, Value> | undefined {
    return this.values.get(key);
  }

  /** Least recently read first. */
  all(): IterableIterator<[string, RememberedValue<Asked, Value>]> {
    return this.values.entries();
  }

  set(key: string, remembered: RememberedValue<Asked, Value>): void {
    this.drop(key);
    this.values.set(key, remembered);
    for (const id of remembered.ids) {
      const keys = this.keysOf.get(id);
      if (keys) keys.add(key);
      else this.keysOf.set(id, new Set([key]));
    }
    if (this.values.size <= this.most) return;
    const oldest = this.values.keys().next();
    if (!oldest.done) this.drop(oldest.value);
  }

  /** Returns whether it was there. */
  drop(key: string): boolean {
    const remembered = this.values.get(key);
    if (!remembered) return false;
    this.values.delete(key);
    for (const id of remembered.ids) {
      const keys = this.keysOf.get(id);
      keys?.delete(key);
      if (keys?.size === 0) this.keysOf.delete(id);
    }
    return true;
  }

  /** Drops all values with this id. Returns whether there were any. */
  dropAllOf(id: string): boolean {
    const keys = [...(this.keysOf.get(id) ?? [])];
    for (const key of keys) this.drop(key);
    return keys.length > 0;
  }
}
