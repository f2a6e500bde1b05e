/** All values of one exchange that can be put back. Further ones are redacted for good. */
const REMEMBERED_MAX = 10_000;
/** The longest placeholder: the longest kind, an underscore, a number and the braces. */
export const PLACEHOLDER_CHARS_MAX = 40;

export const PLACEHOLDER = /\{\{[A-Z_]{1,24}_\d{1,8}\}\}/g;

/**
 * What stands for redacted values in one exchange: `{{EMAIL_ADDRESS_1}}`. The same value gets the same placeholder, so
 * that the model can still tell people apart. The values live in memory only, until the exchange ends.
 */
export class Placeholders {
  private readonly byValue = new Map<string, string>();
  private readonly counts = new Map<string, number>();
  private readonly originals = new Map<string, string>();

  /** Whether an answer may have placeholders whose values the client shall get back. */
  get canRestore(): boolean {
    return this.originals.size > 0;
  }

  of(kind: string, value: string, isReversible: boolean): string {
    const key = `${kind}/${value}`;
    let placeholder = this.byValue.get(key);
    if (placeholder === undefined) {
      const number = (this.counts.get(kind) ?? 0) + 1;
      this.counts.set(kind, number);
      placeholder = `{{${kind}_${number}}}`;
      if (this.byValue.size < REMEMBERED_MAX) this.byValue.set(key, placeholder);
    }
    if (isReversible && this.originals.size < REMEMBERED_MAX) this.originals.set(placeholder, value);
    return placeholder;
  }

  /** The value behind a placeholder; the placeholder itself where there is none. */
  original(placeholder: string): string {
    return this.originals.get(placeholder) ?? placeholder;
  }
}
