import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { Json } from '../../../providers/endpoint.js';
import type { Check } from '../check.js';

type AddPrefixParameters = ParametersOf<'default.addPrefix'>;

/** Adds text before the first message of a role, or before the prompt. Without such a message, it adds one. */
export const addPrefix = (parameters: AddPrefixParameters): Check => ({
  ignoresTexts: true,
  run: ({ json, facts }) => {
    const changed = json && prefixed(json, parameters, facts.endpoint === 'messages');
    return { verdict: true, data: null, ...(changed && { json: changed }) };
  },
});

function prefixed(body: Json, parameters: AddPrefixParameters, hasSystemApart: boolean): Json | null {
  const { prefix, applyToRole } = parameters;
  const { messages, prompt, input, system = '' } = body;
  if (hasSystemApart && applyToRole !== 'user' && applyToRole !== 'assistant')
    return { ...body, system: before(system, prefix, 'text') };
  if (Array.isArray(messages))
    return { ...body, messages: withPrefix(messages as Json[], parameters, 'text') };
  if (typeof prompt === 'string') return { ...body, prompt: prefix + prompt };
  if (typeof input === 'string' && applyToRole === 'user') return { ...body, input: prefix + input };
  return Array.isArray(input)
    ? { ...body, input: withPrefix(input as Json[], parameters, 'input_text') }
    : null;
}

function withPrefix(
  messages: readonly Json[],
  { prefix, applyToRole: role }: AddPrefixParameters,
  type: string,
): Json[] {
  const at = messages.findIndex((message) => message?.role === role);
  if (at < 0) return [{ role, content: prefix }, ...messages];
  return messages.map((message, index) =>
    index === at ? { ...message, content: before(message.content, prefix, type) } : message,
  );
}

function before(content: unknown, text: string, type: string): unknown {
  if (typeof content === 'string') return text + content;
  return Array.isArray(content) ? [{ type, text }, ...(content as unknown[])] : content;
}
