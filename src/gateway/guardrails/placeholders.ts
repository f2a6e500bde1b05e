/** Maximum values of one exchange that can be restored. Further ones are redacted irreversibly. */
const REMEMBERED_MAX = 10_000;
/** The longest placeholder: the longest kind, an underscore, a number and the braces. */
export const PLACEHOLDER_CHARS_MAX = 40;

export const PLACEHOLDER = /\{\{[A-Z_]{1,24}_\d{1,8}\}\}/g;

/**
 * Placeholders for the redacted values of one exchange: `{{EMAIL_ADDRESS_1}}`. Equal values share a placeholder, so that the model can
 * still tell people apart. The values exist only in memory, until the exchange ends.
 */
export class Placeholders {
  /** Null until something is redacted, as in most exchanges. */
  private known: KnownValues | null = null;

  /** Whether the response may contain placeholders to restore for the client. */
  get canRestore(): boolean {
    return this.known !== null && this.known.originals.size > 0;
  }

  of(kind: string, value: string, isReversible: boolean): string {
    const { byValue, counts, originals } = (this.known ??= nothingKnown());
    const key = `${kind}/${value}`;
    let placeholder = byValue.get(key);
    if (placeholder === undefined) {
      const number = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, number);
      placeholder = `{{${kind}_${number}}}`;
      if (byValue.size < REMEMBERED_MAX) byValue.set(key, placeholder);
    }
    if (isReversible && originals.size < REMEMBERED_MAX) originals.set(placeholder, value);
    return placeholder;
  }

  /** The value behind a placeholder; an unknown placeholder itself. */
  original(placeholder: string): string {
    return this.known?.originals.get(placeholder) ?? placeholder;
  }
}

interface KnownValues {
  readonly byValue: Map<string, string>;
  readonly counts: Map<string, number>;
  readonly originals: Map<string, string>;
}

const nothingKnown = (): KnownValues => ({ byValue: new Map(), counts: new Map(), originals: new Map() });
