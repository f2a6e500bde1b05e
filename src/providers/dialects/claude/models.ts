/** How a model is told to think: it decides itself (`adaptive`), or gets a budget of tokens (`manual`). */
export type ThinkingForm = 'adaptive' | 'manual';

/** What a request must know of a model. */
export interface ModelFacts {
  /** Output tokens, asked for where the client names no limit: Anthropic requires one. */
  readonly maxTokens: number;
  readonly thinking: ThinkingForm;
  /** Whether it takes a budget of tokens, be it beside the other form. */
  readonly takesBudgets: boolean;
  /** The `thinking.type` that asks for no thinking. */
  readonly off: 'disabled' | 'between_tools';
  /** Whether it takes instructions in the middle of a conversation, where they leave the cached beginning as it was. */
  readonly takesSystemTurns: boolean;
}

/**
 * What most models of today have in common. Each of them can write at least 64,000 tokens
 * (https://platform.claude.com/docs/en/models), so nothing is cut short that OpenAI, whose default is the model's own
 * maximum, would not cut; and Claude 4.6 and later think adaptively
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
 * The others, by name: the same table of the troubleshooting page says that models up to Claude 4.5 know manual thinking
 * only, that those of 4.6 know both, and that Claude Sonnet 5.5 has `between_tools` in place of `disabled`. A name may stand inside a longer one, as
 * at resellers. A model that cannot do without thinking refuses `disabled` itself.
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
 * Those before Claude Opus 4.8 refuse instructions in the middle, and so do other models behind the same API. Of Claude
 * Sonnet 5 sources disagree. https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
const WITH_SYSTEM_TURNS =
  /claude-(?!instant|[1-3]|(sonnet|haiku)-[34](?!\d)|opus-[34](?![-.][89])(?!\d)|sonnet-5(?![-.]5))/;

const KNOWN_MAX = 1_000;
const known = new Map<string, ModelFacts>();

/**
 * What is known of a model; of one that the table has not, what models of today have in common. Remembered, because a request asks
 * several times, and few models are asked for.
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
