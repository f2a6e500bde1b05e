import { AppError } from '../common/errors/app-error.js';
import type { Json } from './endpoint.js';
import { isObject, list } from './endpoints/reading.js';

/**
 * Parameters that may be dropped if a provider does not support them, with the reason why the response still fits the request. Names are
 * those of OpenAI's API: https://platform.openai.com/docs/api-reference/chat/create and
 * https://platform.openai.com/docs/api-reference/responses/create.
 *
 * A parameter is not listed if the client would misread the response without it: the number of choices (`n`), their format
 * (`response_format`, `stop`, `modalities`, `audio`), what the model may do (`tools`, `tool_choice`, `parallel_tool_calls`,
 * `web_search_options`), or the cost (`service_tier`).
 */
export const DROPPABLE_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['seed', 'OpenAI itself makes only a best effort to sample the same response again'],
  ['frequency_penalty', 'it changes the choice of words, not the form of the response'],
  ['presence_penalty', 'it changes the choice of words, not the form of the response'],
  ['logit_bias', "it shifts the choice of tokens, whose ids are those of OpenAI's models"],
  ['verbosity', 'it is a hint for a shorter or longer response'],
  ['logprobs', 'the text is the same, and `logprobs` of the response are null'],
  ['top_logprobs', 'the text is the same, and `logprobs` of the response are null'],
  ['prediction', 'it makes the response faster, not different'],
  ['store', 'the response is the same; it cannot be fetched from the provider later'],
  ['truncation', 'a conversation that is too long is refused by the provider instead of shortened'],
  ['context_management', 'a conversation that is too long is refused by the provider instead of shortened'],
]);

const NO_HINTS: ReadonlySet<string> = new Set();

/** What a request asks for and may go without. */
export interface Droppable {
  /** A parameter, or a tool as `tools.<type>`. */
  readonly name: string;
  readonly isHint: boolean;
  /** The request without it. */
  readonly rest: Json;
}

/** The parameter or tool of `request` that a translation error refuses; null unless it may be dropped. */
export function droppableIn(request: Json, error: unknown, hints = NO_HINTS): Droppable | null {
  if (!(error instanceof AppError) || error.code !== 'parameter_unsupported') return null;
  const { parameter, tool } = error.details;
  if (typeof tool === 'string') return droppableTool(request, tool, hints);
  if (typeof parameter !== 'string' || !Object.hasOwn(request, parameter)) return null;
  const isHint = hints.has(parameter);
  if (!isHint && !DROPPABLE_PARAMETERS.has(parameter)) return null;
  return { name: parameter, isHint, rest: without(request, parameter) };
}

export const without = (request: Json, parameter: string): Json =>
  Object.fromEntries(Object.entries(request).filter(([name]) => name !== parameter));

/** A tool is a hint only beside tools that remain: a request that has no other depends on it. */
function droppableTool(request: Json, tool: string, hints: ReadonlySet<string>): Droppable | null {
  const name = `tools.${tool}`;
  if (!hints.has(name)) return null;
  const rest = { ...request, ...withoutTool(request, tool) };
  return toolsIn(rest).some(({ type }) => !hints.has(`tools.${String(type)}`))
    ? { name, isHint: true, rest }
    : null;
}

/** The lists of tools: the request's own, and those of items of the input. */
function withoutTool({ tools, input }: Json, tool: string): Json {
  const kept = (given: unknown): unknown =>
    Array.isArray(given) ? given.filter((one) => !isObject(one) || !isHosted(one, tool)) : given;
  return {
    ...(tools !== undefined && { tools: kept(tools) }),
    ...(Array.isArray(input) && {
      input: input.map((item: unknown) =>
        isObject(item) && Array.isArray(item.tools) ? { ...item, tools: kept(item.tools) } : item,
      ),
    }),
  };
}

/** Some tools run at the client if it says so. */
const isHosted = ({ type, execution }: Json, tool: string): boolean =>
  type === tool && execution !== 'client';

const toolsIn = ({ tools, input }: Json): readonly Json[] =>
  [tools, ...list(input).map((item) => (isObject(item) ? item.tools : null))].flatMap(list).filter(isObject);
