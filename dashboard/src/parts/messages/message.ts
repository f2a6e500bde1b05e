/** One part of a message, in any dialect. */
export type MessagePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'toolCall'; readonly name: string; readonly text: string }
  | { readonly kind: 'image'; readonly source: string | null }
  | { readonly kind: 'other'; readonly type: string; readonly text: string };

export interface Message {
  readonly role: string;
  readonly parts: readonly MessagePart[];
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const pretty = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Only bytes inside the document are shown as an image: a URL would be a request to another origin. */
const isInline = (url: unknown): url is string =>
  typeof url === 'string' && /^data:image\/(png|jpeg|gif|webp);base64,/.test(url);

/** Messages of a request: OpenAI's `messages` and `input`, Anthropic's `system`, Google's `contents`. Empty without any. */
export function requestMessages(body: unknown): readonly Message[] {
  if (!isObject(body)) return [];
  const system = body.system ?? body.instructions ?? body.systemInstruction;
  const head =
    system === undefined
      ? []
      : [{ role: 'system', parts: partsOf(isObject(system) ? system.parts : system) }];
  if (typeof body.input === 'string') return [...head, { role: 'user', parts: partsOf(body.input) }];
  const list = [body.messages, body.input, body.contents].find(Array.isArray);
  return [...head, ...listOf(list).filter(isObject).map(messageOf)];
}

/** Messages of a response: choices, content blocks, output items or candidates. */
export function responseMessages(body: unknown): readonly Message[] {
  if (!isObject(body)) return [];
  const choices = listOf(body.choices).filter(isObject);
  if (choices.length > 0)
    return choices.map(({ message, text }) =>
      isObject(message)
        ? messageOf({ role: 'assistant', ...message })
        : { role: 'assistant', parts: partsOf(text) },
    );
  const candidates = listOf(body.candidates).filter(isObject);
  if (candidates.length > 0)
    return candidates.map(({ content }) =>
      messageOf(isObject(content) ? { ...content, role: 'assistant' } : {}),
    );
  if (Array.isArray(body.output))
    return body.output.filter(isObject).map((item) => messageOf({ role: 'assistant', ...item }));
  return Array.isArray(body.content) ? [messageOf({ ...body, role: 'assistant' })] : [];
}

function messageOf(message: Json): Message {
  const role = message.role === 'model' ? 'assistant' : textOf(message.role) || 'user';
  const reasoning = textOf(message.reasoning_content) || textOf(message.reasoning);
  const calls = listOf(message.tool_calls).filter(isObject).map(callOf);
  const own = message.content ?? message.parts;
  const parts =
    own === undefined || own === null
      ? calls.length === 0 && message.type
        ? [partOf(message)]
        : []
      : partsOf(own);
  return {
    role,
    parts: [...(reasoning ? [{ kind: 'reasoning', text: reasoning } as const] : []), ...parts, ...calls],
  };
}

function callOf({ function: called, name, arguments: given }: Json): MessagePart {
  const target = isObject(called) ? called : { name, arguments: given };
  return { kind: 'toolCall', name: textOf(target.name), text: prettyArguments(target.arguments) };
}

/** Arguments are JSON as text, or intended to be. */
function prettyArguments(given: unknown): string {
  try {
    return JSON.stringify(JSON.parse(textOf(given)), null, 2);
  } catch {
    return pretty(given ?? '');
  }
}

const partsOf = (content: unknown): readonly MessagePart[] =>
  typeof content === 'string'
    ? [{ kind: 'text', text: content }]
    : listOf(content).map((part) => (isObject(part) ? partOf(part) : { kind: 'text', text: pretty(part) }));

function partOf(part: Json): MessagePart {
  const type = textOf(part.type);
  if (typeof part.text === 'string')
    return part.thought === true ? { kind: 'reasoning', text: part.text } : { kind: 'text', text: part.text };
  if (typeof part.thinking === 'string') return { kind: 'reasoning', text: part.thinking };
  if (type === 'tool_use' || type === 'function_call')
    return { kind: 'toolCall', name: textOf(part.name), text: prettyArguments(part.input ?? part.arguments) };
  if (isObject(part.functionCall))
    return { kind: 'toolCall', name: textOf(part.functionCall.name), text: pretty(part.functionCall.args) };
  if (type === 'tool_result') return { kind: 'text', text: pretty(part.content) };
  return imageOf(part) ?? { kind: 'other', type: type || Object.keys(part)[0] || '', text: pretty(part) };
}

function imageOf(part: Json): MessagePart | null {
  const given = part.image_url ?? part.source ?? part.inlineData;
  if (given === undefined) return null;
  if (!isObject(given)) return { kind: 'image', source: isInline(given) ? given : null };
  const url = given.url ?? `data:${textOf(given.media_type ?? given.mimeType)};base64,${textOf(given.data)}`;
  return { kind: 'image', source: isInline(url) ? url : null };
}
