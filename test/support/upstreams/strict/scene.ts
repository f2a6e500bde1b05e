/** What every model does here: it calls two tools at once, and answers when it has their results. */
export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

export interface Move {
  readonly text: string;
  readonly calls: readonly Call[];
}

export const THOUGHT = 'The weather decides.';
/** Signs the thought. A model takes back only what it has signed. */
export const SIGNATURE = 'c2lnbmVkIGJ5IHRoZSBtb2RlbA==';
export const LAST_WORDS = 'Rome is sunny, Oslo is not.';
/** Input tokens in all, those read from and written to the cache, output tokens and those of reasoning. */
export const USAGE = { input: 120, cached: 80, written: 20, output: 30, reasoning: 12 };

/** What a model does with the tools that it is offered, before and after it has their results. */
export type MoveOf = (tools: readonly string[], hasResults: boolean) => Move;

/** Calls the first and the last of the tools, so that lists of tools are seen whole. */
export const callsFirstAndLast: MoveOf = (tools, hasResults) => {
  const [first] = tools;
  const last = tools.at(-1);
  if (hasResults || first === undefined || last === undefined) return { text: LAST_WORDS, calls: [] };
  const calls = [
    { name: first, input: { city: 'Rome' } },
    { name: last, input: { city: 'Oslo' } },
  ];
  return { text: 'I look it up.', calls };
};

/** Text in two pieces, as streams bring it. */
export const pieces = (text: string): readonly string[] => [text.slice(0, 7), text.slice(7)];
