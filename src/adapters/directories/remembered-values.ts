/** How long a loaded value may be used, in milliseconds since the load began. */
export interface Ages {
  /** Until then it is served as it is. */
  readonly softMs: number;
  /** Until then it is served while a newer one is loaded in the background; after that, callers wait for the newer one. */
  readonly hardMs: number;
  /** Until then it is served if the store is unavailable. */
  readonly staleMs: number;
}

export interface RememberedValue<Asked, Value> {
  readonly value: Value;
  readonly ids: readonly string[];
  readonly loadedAt: number;
  readonly ages: Ages;
  /** The generation that it was loaded in; older ones must be loaded again, and serve only while the store is unavailable. */
  readonly era: number;
  /** When somebody last waited for a newer one or set off its load. */
  wantedAt: number;
  /** What it was made of, for snapshots; null where none are made. */
  readonly source: { readonly asked: Asked; readonly row: string } | null;
}

/** Values by what they are remembered by and by the ids of what they are made of. The longest unread is forgotten first. */
export class RememberedValues<Asked, Value> {
  private readonly found = new Map<string, RememberedValue<Asked, Value>>();
  private readonly keysOf = new Map<string, Set<string>>();

  constructor(private readonly most: number) {}

  get(key: string): RememberedValue<Asked, Value> | undefined {
    return this.found.get(key);
  }

  /** The longest unread first. */
  all(): IterableIterator<[string, RememberedValue<Asked, Value>]> {
    return this.found.entries();
  }

  set(key: string, remembered: RememberedValue<Asked, Value>): void {
    this.drop(key);
    this.found.set(key, remembered);
    for (const id of remembered.ids) {
      const keys = this.keysOf.get(id);
      if (keys) keys.add(key);
      else this.keysOf.set(id, new Set([key]));
    }
    if (this.found.size <= this.most) return;
    const oldest = this.found.keys().next();
    if (!oldest.done) this.drop(oldest.value);
  }

  /** Whether it was there. */
  drop(key: string): boolean {
    const remembered = this.found.get(key);
    if (!remembered) return false;
    this.found.delete(key);
    for (const id of remembered.ids) {
      const keys = this.keysOf.get(id);
      keys?.delete(key);
      if (keys?.size === 0) this.keysOf.delete(id);
    }
    return true;
  }

  /** All that has this id. Whether there was any. */
  dropAllOf(id: string): boolean {
    const keys = [...(this.keysOf.get(id) ?? [])];
    for (const key of keys) this.drop(key);
    return keys.length > 0;
  }
}
