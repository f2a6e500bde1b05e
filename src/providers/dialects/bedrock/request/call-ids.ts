/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html */
const FITTING = /^[A-Za-z0-9_-]{1,64}$/;
const LENGTH_MAX = 64;
/** Leaves room for a number. */
const BASE_LENGTH = 56;

/**
 * Ids of the tool calls of one request. They are kept, but for those that Bedrock would refuse, as other providers' may
 * be: these become others, the same for a call and its result, and different for different calls.
 */
export class CallIds {
  private readonly known = new Map<string, string>();
  private readonly taken = new Set<string>();

  of(id: string): string {
    const known = this.known.get(id);
    if (known !== undefined) return known;
    const fitting = this.free(FITTING.test(id) ? id : id.replace(/[^A-Za-z0-9_-]/g, '_'));
    this.known.set(id, fitting);
    this.taken.add(fitting);
    return fitting;
  }

  private free(wanted: string): string {
    let id = wanted === '' ? 'call' : wanted.slice(0, LENGTH_MAX);
    for (let count = 2; this.taken.has(id); count++) id = `${wanted.slice(0, BASE_LENGTH)}_${count}`;
    return id;
  }
}
