/** How thinking is configured: the model decides (`adaptive`), or receives a token budget (`manual`). */
export type ThinkingForm = 'adaptive' | 'manual';

/** Properties of a model that requests depend on. */
export interface ModelFacts {
  /** Default limit of output tokens: Anthropic requires one. */
  readonly maxTokens: number;
  readonly thinking: ThinkingForm;
  /** Whether it accepts a token budget, possibly beside the other form. */
  readonly takesBudgets: boolean;
  /** The `thinking.type` that turns thinking off. */
  readonly off: 'disabled' | 'between_tools';
  /** Whether it accepts instructions inside a conversation, which leave the cached prefix unchanged. */
  readonly takesSystemTurns: boolean;
}

/**
 * Properties of most current models. Each of them supports at least 64,000 output tokens (https://platform.claude.com/docs/en/models), so
 * no response is cut short that OpenAI, whose default is the model's own maximum, would not cut; and Claude 4.6 and later think adaptively
 * (https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting).
 */
const TODAY: Omit<ModelFacts, 'takesSystemTurns'> = {
  maxTokens: 64_000,
  thinking: 'adaptive',
  takesBudgets: false,
  off: 'disabled',
};

const MANUAL = { thinking: 'manual', takesBudgets: true } as const;

/**
 * The others, by name. According to the table of the same troubleshooting page, models up to Claude 4.5 support only manual thinking, those
 * of 4.6 both forms, and Claude Sonnet 5.5 has `between_tools` in place of `disabled`. A name may be part of a longer one, as at resellers.
 * A model that cannot turn thinking off refuses `disabled` itself.
 */
const OTHERS: readonly (readonly [RegExp, Partial<ModelFacts>])[] = [
  [/claude-3-(opus|sonnet|haiku)/, { maxTokens: 4_096, ...MANUAL }],
  [/claude-3-5-/, { maxTokens: 8_192, ...MANUAL }],
  [/claude-3-7-/, MANUAL],
  [/claude-opus-4(?![-.][5-9])/, { maxTokens: 32_000, ...MANUAL }],
  [/claude-(opus|sonnet|haiku)-4(?![-.][6-9])/, MANUAL],
  [/claude-(opus|sonnet|haiku)-4[-.]6/, { takesBudgets: true }],
  [/claude-sonnet-5[-.]5/, { off: 'between_tools' }],
];

/**
 * Models before Claude Opus 4.8 refuse instructions inside a conversation, and so do other models behind the same API. For Claude Sonnet 5,
 * sources disagree. https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
const WITH_SYSTEM_TURNS =
  /claude-(?!instant|[1-3]|(sonnet|haiku)-[34](?!\d)|opus-[34](?![-.][89])(?!\d)|sonnet-5(?![-.]5))/;

const KNOWN_MAX = 1_000;
const known = new Map<string, ModelFacts>();

/**
 * The properties of a model; an unlisted one counts as current. Cached, because a request reads them several times and few models are in
 * use.
 */
export function factsOf(model: string): ModelFacts {
  let facts = known.get(model);
  if (facts) return facts;
  facts = factsOfName(model.toLowerCase());
  if (known.size < KNOWN_MAX) known.set(model, facts);
  return facts;
}

function factsOfName(name: string): ModelFacts {
  return {
    ...TODAY,
    takesSystemTurns: WITH_SYSTEM_TURNS.test(name),
    ...OTHERS.find(([pattern]) => pattern.test(name))?.[1],
  };
}
