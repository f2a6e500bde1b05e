import type { SandboxReply } from './reply.js';
import type { WireChunk, WireCompletion, WireDelta } from './wire.js';

/** The creation time of every sandbox response, in seconds since the epoch. It is constant, because responses are deterministic. */
export const CREATED = 1_700_000_000;

/** Id and model of the response, and whether its stream ends with the usage. */
export interface Heading {
  readonly id: string;
  readonly model: string;
  readonly includeUsage: boolean;
}

/** The response to a request without `stream`. */
export function completionOf({ id, model }: Heading, reply: SandboxReply): WireCompletion {
  const { toolCall, pieces, finishReason, usage } = reply;
  return {
    id,
    object: 'chat.completion',
    created: CREATED,
    model,
    choices: indexes(reply).map((index) => ({
      index,
      message: {
        role: 'assistant',
        content: toolCall ? null : pieces.join(''),
        refusal: null,
        ...(toolCall && { tool_calls: [toolCall] }),
      },
      logprobs: null,
      finish_reason: finishReason,
    })),
    usage,
  };
}

/** The events of a stream, unframed: the role, each piece, the end, and the usage if requested. */
export function sandboxChunks(heading: Heading, reply: SandboxReply): readonly WireChunk[] {
  const { id, model, includeUsage } = heading;
  const head = { id, object: 'chat.completion.chunk', created: CREATED, model } as const;
  const noUsageYet = includeUsage ? { usage: null } : {};
  const chunk = (
    index: number,
    delta: WireDelta,
    end: WireChunk['choices'][number]['finish_reason'] = null,
  ) => ({
    ...head,
    choices: [{ index, delta, logprobs: null, finish_reason: end }],
    ...noUsageYet,
  });
  const everyChoice = indexes(reply);
  return [
    ...everyChoice.map((index) => chunk(index, { role: 'assistant', content: reply.toolCall ? null : '' })),
    ...deltasOf(reply).flatMap((delta) => everyChoice.map((index) => chunk(index, delta))),
    ...everyChoice.map((index) => chunk(index, {}, reply.finishReason)),
    ...(includeUsage ? [{ ...head, choices: [], usage: reply.usage }] : []),
  ];
}

/** A tool call is split as OpenAI splits it: first its name, then its arguments. */
function deltasOf({ toolCall, pieces }: SandboxReply): readonly WireDelta[] {
  if (!toolCall) return pieces.map((content) => ({ content }));
  const { name, arguments: text } = toolCall.function;
  return [
    { tool_calls: [{ index: 0, id: toolCall.id, type: 'function', function: { name, arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: text } }] },
  ];
}

const indexes = (reply: SandboxReply): readonly number[] =>
  Array.from({ length: reply.choices }, (_, i) => i);
