import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { checkSampling } from '../claude/thinking.js';
import { fromConverseResponse } from './answer.js';
import { bedrockError } from './errors.js';
import { familyOf, bedrockModelPath, takesCachePoints } from './models.js';
import { bedrockConversation } from './request/messages.js';
import { bedrockParameters } from './request/parameters.js';
import { bedrockWithoutRefusedThinking } from './request/refused-thinking.js';
import { bedrockTools } from './request/tools.js';
import { ConverseStream } from './stream.js';

/**
 * Requests Claude's stop sequence, which Converse itself does not report.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (additionalModelResponseFieldPaths)
 */
function requestedStopSequence({ stop }: Json, model: string): Json {
  if ((stop ?? null) === null || familyOf(model) !== 'anthropic') return {};
  return { additionalModelResponseFieldPaths: ['/stop_sequence'] };
}

/** Removes cache marks, which do not change the response. */
function withoutMarks(hub: Json): Json {
  const { messages, tools } = hub;
  return {
    ...hub,
    ...(Array.isArray(messages) ? { messages: messages.map(unmarkedMessage) } : {}),
    ...(Array.isArray(tools) ? { tools: tools.map(unmarked) } : {}),
  };
}

function unmarkedMessage(message: unknown): unknown {
  const plain = unmarked(message);
  if (!isObject(plain) || !Array.isArray(plain.content)) return plain;
  return { ...plain, content: plain.content.map(unmarked) };
}

function unmarked(value: unknown): unknown {
  if (!isObject(value) || value.cache_control === undefined) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'cache_control'));
}

/** A chat of the hub as a request to Converse or ConverseStream. */
function request(chat: Json, { model, isStreamed, isStrict }: Context): ProviderRequest {
  const hub = takesCachePoints(model) ? chat : withoutMarks(chat);
  const { system, messages } = bedrockConversation(hub.messages);
  const body = {
    ...(isStrict ? {} : requestedStopSequence(hub, model)),
    ...bedrockParameters(hub, model),
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...bedrockTools(hub, messages, model),
  };
  const allowed = bedrockWithoutRefusedThinking(body, hub);
  const { additionalModelRequestFields: fields } = allowed;
  checkSampling(hub, isObject(fields) ? fields.thinking : null);
  return {
    path: bedrockModelPath(model, isStreamed ? 'converse-stream' : 'converse'),
    body: allowed,
  };
}

/** The hub's chat completions in Bedrock's Converse API. */
export const bedrockChat: Translator = {
  request,
  answer: fromConverseResponse,
  error: bedrockError,
  stream: { framing: 'aws-event-stream', open: (context) => new ConverseStream(context) },
};
