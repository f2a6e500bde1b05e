import { z } from 'zod';
import { type Asked, json, type Rule, sse, type StrictDialect } from './rules.js';
import { LAST_WORDS, pieces, SIGNATURE, THOUGHT, USAGE } from './scene.js';

const FUNCTIONS = 'https://ai.google.dev/gemini-api/docs/function-calling';
const CONTENT = 'https://ai.google.dev/api/caching#Content';
const SIGNATURES = 'https://ai.google.dev/gemini-api/docs/thought-signatures';
const THINKING = 'https://ai.google.dev/gemini-api/docs/thinking';

/** What Google documents for calls whose signature the client has lost. */
const STAND_IN = 'skip_thought_signature_validator';

const name = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/);
const object = z.record(z.string(), z.unknown());

/** https://ai.google.dev/api/caching#Schema */
interface Schema {
  type: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}
const schema: z.ZodType<Schema> = z.lazy(() =>
  z.strictObject({
    type: z.string().regex(/^(string|number|integer|boolean|array|object|null)$/i),
    format: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    nullable: z.boolean().optional(),
    enum: z.array(z.string()).optional(),
    items: schema.optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    propertyOrdering: z.array(z.string()).optional(),
    minItems: z.coerce.number().optional(),
    maxItems: z.coerce.number().optional(),
    minProperties: z.coerce.number().optional(),
    maxProperties: z.coerce.number().optional(),
    minLength: z.coerce.number().optional(),
    maxLength: z.coerce.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    pattern: z.string().optional(),
    example: z.unknown().optional(),
    default: z.unknown().optional(),
    anyOf: z.array(schema).optional(),
  }),
);

const signed = {
  thought: z.boolean().optional(),
  thoughtSignature: z.union([z.base64(), z.literal(STAND_IN)]).optional(),
};
const part = z.union([
  z.strictObject({ text: z.string(), ...signed }),
  z.strictObject({
    inlineData: z.strictObject({
      mimeType: z.string().regex(/^image\/(png|jpeg|webp|heic|heif)$/),
      data: z.base64(),
    }),
    ...signed,
  }),
  z.strictObject({
    functionCall: z.strictObject({ name, args: object.optional(), id: z.string().optional() }),
    ...signed,
  }),
  z.strictObject({
    functionResponse: z.strictObject({
      name,
      response: object,
      id: z.string().optional(),
      parts: z.array(z.looseObject({})).optional(),
    }),
    ...signed,
  }),
]);
const content = z.strictObject({ role: z.enum(['user', 'model']).optional(), parts: z.array(part).min(1) });
const declaration = z.strictObject({
  name,
  description: z.string().optional(),
  parameters: schema.optional(),
  parametersJsonSchema: z.unknown().optional(),
});

const generation = z.strictObject({
  contents: z.array(content).min(1),
  systemInstruction: content.optional(),
  tools: z.array(z.strictObject({ functionDeclarations: z.array(declaration).min(1).max(512) })).optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']).optional(),
        allowedFunctionNames: z.array(name).optional(),
      }),
    })
    .optional(),
  safetySettings: z.array(z.looseObject({})).optional(),
  cachedContent: z.string().optional(),
  generationConfig: z
    .strictObject({
      maxOutputTokens: z.int().min(1).optional(),
      temperature: z.number().min(0).max(2).optional(),
      topP: z.number().min(0).max(1).optional(),
      topK: z.int().optional(),
      stopSequences: z.array(z.string()).max(5).optional(),
      candidateCount: z.int().min(1).max(8).optional(),
      seed: z.int().optional(),
      presencePenalty: z.number().optional(),
      frequencyPenalty: z.number().optional(),
      responseModalities: z.array(z.enum(['TEXT', 'IMAGE', 'AUDIO'])).optional(),
      responseMimeType: z.string().optional(),
      responseSchema: schema.optional(),
      responseJsonSchema: z.unknown().optional(),
      thinkingConfig: z
        .strictObject({
          includeThoughts: z.boolean().optional(),
          thinkingBudget: z.int().min(-1).max(32_768).optional(),
          thinkingLevel: z
            .string()
            .regex(/^(minimal|low|medium|high)$/i)
            .optional(),
        })
        .optional(),
    })
    .optional(),
});

/** Fields whose value is an object with names of the client's choice. */
const OPAQUE = new Set(['args', 'response', 'parametersJsonSchema', 'responseJsonSchema', 'properties']);

/** Google reads a field in either spelling, and its own client mixes them. https://protobuf.dev/programming-guides/json/ */
function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([spelled, inner]) => {
    const field = spelled.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [field, OPAQUE.has(field) ? (inner as unknown) : camelCased(inner)] as const;
  });
  return Object.fromEntries(fields);
}

/** A request to generate, or one to count its tokens: https://ai.google.dev/api/tokens */
const requests = z.union([
  z
    .strictObject({ generateContentRequest: generation.extend({ model: z.string().startsWith('models/') }) })
    .transform(({ generateContentRequest }) =>
      generation.parse(
        Object.fromEntries(Object.entries(generateContentRequest).filter(([field]) => field !== 'model')),
      ),
    ),
  generation,
]);
const shape = z.preprocess(camelCased, requests);
type Body = z.infer<typeof generation>;
type Part = z.infer<typeof part>;

const callsIn = (parts: readonly Part[]) =>
  parts.flatMap((it) => ('functionCall' in it ? [it.functionCall] : []));
const resultsIn = (parts: readonly Part[]) =>
  parts.flatMap((it) => ('functionResponse' in it ? [it.functionResponse] : []));
const thinkingOf = ({ generationConfig }: Body) => generationConfig?.thinkingConfig;
const needsSignatures = (path: string): boolean => path.includes('gemini-3');

const rules: readonly Rule<Body>[] = [
  {
    says: 'Please use a valid role: user, model.',
    url: CONTENT,
    isBroken: ({ contents }) =>
      contents.some(({ role }) => role === undefined) || contents[0]?.role !== 'user',
  },
  {
    says: 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    url: FUNCTIONS,
    isBroken: ({ contents }) =>
      contents.some(({ parts }, index) => callsIn(parts).length > 0 && contents[index - 1]?.role !== 'user'),
  },
  {
    says: 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    url: FUNCTIONS,
    isBroken: ({ contents }) =>
      contents.some(({ parts }, index) => {
        const calls = callsIn(contents[index - 1]?.parts ?? []).map((call) => call.name);
        return (
          resultsIn(parts)
            .map((result) => result.name)
            .join() !== calls.join()
        );
      }),
  },
  {
    says: 'Function call is missing a thought_signature in functionCall parts, or it is not one of this model.',
    url: SIGNATURES,
    isBroken: ({ contents }, { path }) =>
      needsSignatures(path) &&
      contents.some(({ parts }) => {
        const first = parts.find((it) => 'functionCall' in it);
        return first !== undefined && ![SIGNATURE, STAND_IN].includes(first.thoughtSignature ?? '');
      }),
  },
  {
    says: 'You can only set only one of thinking budget and thinking level.',
    url: THINKING,
    isBroken: (body) =>
      thinkingOf(body)?.thinkingBudget !== undefined && thinkingOf(body)?.thinkingLevel !== undefined,
  },
  {
    says: 'Thinking level is not supported for this model.',
    url: THINKING,
    isBroken: (body, { path }) => thinkingOf(body)?.thinkingLevel !== undefined && !needsSignatures(path),
  },
  {
    says: 'only one of parameters and parameters_json_schema may be set',
    url: FUNCTIONS,
    isBroken: ({ tools = [] }) =>
      tools.some(({ functionDeclarations }) =>
        functionDeclarations.some(
          (it) => it.parameters !== undefined && it.parametersJsonSchema !== undefined,
        ),
      ),
  },
];

function answer(body: Body, { path, moveOf }: Asked) {
  if (path.includes(':countTokens')) return json({ totalTokens: USAGE.input });
  const hasResults = body.contents.some(({ parts }) => resultsIn(parts).length > 0);
  const declared = (body.tools ?? []).flatMap(({ functionDeclarations }) =>
    functionDeclarations.map((it) => it.name),
  );
  const move = moveOf(declared, hasResults);
  const calls = move.calls.map((call, index) => ({
    functionCall: { name: call.name, args: call.input },
    ...(index === 0 && { thoughtSignature: SIGNATURE }),
  }));
  const thoughts = thinkingOf(body)?.includeThoughts === true ? [{ text: THOUGHT, thought: true }] : [];
  const texts =
    move.text === LAST_WORDS ? pieces(move.text).map((text) => ({ text })) : [{ text: move.text }];
  const usageMetadata = {
    promptTokenCount: USAGE.input,
    cachedContentTokenCount: USAGE.cached,
    candidatesTokenCount: USAGE.output - USAGE.reasoning,
    thoughtsTokenCount: USAGE.reasoning,
    totalTokenCount: USAGE.input + USAGE.output,
  };
  const chunk = (parts: readonly object[], end: object = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...end }],
    modelVersion: 'gemini',
    responseId: 'resp-1',
    usageMetadata,
  });
  const parts = [...thoughts, ...texts, ...calls];
  if (!path.includes(':streamGenerateContent')) return json(chunk(parts, { finishReason: 'STOP' }));
  return sse([...parts.map((it) => chunk([it])), chunk([{ text: '' }], { finishReason: 'STOP' })]);
}

/** Gemini's generateContent and countTokens. */
export const gemini: StrictDialect<Body> = {
  paths: /:(streamGenerateContent|generateContent|countTokens)$/,
  shape,
  rules,
  answer,
  refusal: (message) => json({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, 400),
};
