import type { CallIdRule } from '../provider.js';

/** https://platform.claude.com/docs/en/api/messages (tool_use) */
export const ANTHROPIC_CALL_IDS: CallIdRule = { fitting: /^[A-Za-z0-9_-]+$/, length: 64, joint: '_' };

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html */
export const BEDROCK_CALL_IDS: CallIdRule = { fitting: /^[A-Za-z0-9_-]{1,64}$/, length: 64, joint: '_' };

/**
 * https://platform.openai.com/docs/api-reference/chat; the limit is that of the error message,
 * https://github.com/BerriAI/litellm/issues/17343
 */
export const OPENAI_CALL_IDS: CallIdRule = { fitting: /^.{1,40}$/su, length: 40, joint: '_' };

/** From the error message: https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py */
export const MISTRAL_CALL_IDS: CallIdRule = { fitting: /^[A-Za-z0-9]{9}$/, length: 9, joint: '' };

/**
 * Ids of the tool calls of one request. Ids that the provider would refuse, such as other providers', are replaced: by the same id for a
 * call and its result, and by different ids for different calls. All others are kept.
 */
export class CallIds {
  private readonly known = new Map<string, string>();
  private readonly taken = new Set<string>();

  constructor(private readonly rule: CallIdRule) {}

  of(id: string): string {
    const known = this.known.get(id);
    if (known !== undefined) return known;
    const fitting = this.free(this.fits(id) ? id : this.madeOf(id));
    this.known.set(id, fitting);
    this.taken.add(fitting);
    return fitting;
  }

  fits(id: string): boolean {
    return this.rule.fitting.test(id);
  }

  /** A prefix of the id, so that it is the same in each request of a conversation. */
  private madeOf(id: string): string {
    const { length, joint } = this.rule;
    const stray = joint === '' ? /[^A-Za-z0-9]/g : /[^A-Za-z0-9_-]/g;
    const plain = id.replace(stray, joint).slice(0, length) || 'call';
    return this.fits(plain) ? plain : plain.padEnd(length, '0');
  }

  private free(preferred: string): string {
    const { length, joint } = this.rule;
    let id = preferred;
    for (let count = 2; this.taken.has(id); count++) {
      const end = `${joint}${count}`;
      id = preferred.slice(0, length - end.length) + end;
    }
    return id;
  }
}

/**
 * Id of a tool call for a provider without call ids. A conversation keeps the calls of all its turns, often from several providers, and
 * identifies them by id. Clients drop a duplicate id, and Anthropic and Bedrock refuse it, so each id is unique to its request. At most 40
 * characters, OpenAI's limit. https://platform.openai.com/docs/api-reference/chat
 */
export const callId = (requestId: string, index: number): string =>
  `call_${requestId.replaceAll('-', '')}_${index}`;
