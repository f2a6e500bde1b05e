import type { Json } from '../../endpoint.js';
import { isObject, objectOf } from '../../endpoints/reading.js';
import { firstField } from './fields.js';
import { refuseParameter } from '../refusing.js';
import { stopSequences } from '../stop.js';
import { geminiJsonSchema } from './schema.js';
import { thinkingConfig } from './thinking.js';

/** The hub's names and Gemini's. https://ai.google.dev/api/generate-content#GenerationConfig */
const GENERATION: readonly (readonly [hub: string, gemini: string, convert?: (value: unknown) => unknown])[] =
  [
    ['temperature', 'temperature'],
    ['top_p', 'topP'],
    ['top_k', 'topK'],
    ['n', 'candidateCount'],
    ['seed', 'seed'],
    ['presence_penalty', 'presencePenalty'],
    ['frequency_penalty', 'frequencyPenalty'],
    ['max_tokens', 'maxOutputTokens'],
    ['max_completion_tokens', 'maxOutputTokens'],
    ['stop', 'stopSequences', (stop) => stopSequences({ stop }, { provider: 'Gemini', most: 5 })],
    ['logprobs', 'responseLogprobs'],
    ['top_logprobs', 'logprobs'],
    ['modalities', 'responseModalities', upperCased],
    ['media_resolution', 'mediaResolution'],
    ['image_config', 'imageConfig'],
    ['speech_config', 'speechConfig'],
    ['audio', 'speechConfig', voice],
  ];

/** Settings outside of the generation config. https://ai.google.dev/api/generate-content#request-body */
const BESIDE: readonly (readonly [hub: string, gemini: string])[] = [
  ['safety_settings', 'safetySettings'],
  ['cached_content', 'cachedContent'],
];

/** Parameters of the hub that Gemini does not support, with the values that have no effect. */
const REFUSED: readonly (readonly [name: string, harmless: readonly unknown[], detail: string])[] = [
  ['logit_bias', [], 'Gemini has no logit bias'],
  ['parallel_tool_calls', [true], 'Gemini decides itself how many functions it calls'],
  ['prediction', [], 'Gemini takes no predicted output'],
  ['store', [false], 'Gemini stores no responses'],
  ['verbosity', ['medium'], 'Gemini has no setting for it'],
];

/** Read elsewhere, or without effect on the response. */
const READ = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'tools', 'tool_choice', 'functions', 'function_call'],
  ...['web_search_options', 'reasoning_effort', 'thinking', 'output_config'],
  ...['response_format', 'extra_body'],
  ...['generationConfig', 'generation_config', 'toolConfig', 'tool_config'],
  ...['user', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention'],
  'service_tier',
  ...[...GENERATION, ...BESIDE, ...REFUSED].map(([name]) => name),
]);

/**
 * Everything of a request besides the conversation and its tools. A null parameter counts as absent. Throws
 * `AppError('parameter_unsupported')`.
 */
export function parameters(hub: Json, model: string): Json {
  for (const [name, harmless, detail] of REFUSED) {
    if (isGiven(hub[name]) && !isEmpty(hub[name]) && !harmless.includes(hub[name]))
      refuseParameter(name, detail);
  }
  const google = googleExtras(hub);
  const config = {
    ...objectOf(firstField(hub, 'generationConfig', 'generation_config')),
    ...renamed(hub, GENERATION),
    ...withThinking(thinkingConfig(hub, google, model)),
    ...responseFormat(hub.response_format),
  };
  return {
    ...Object.fromEntries(Object.entries(hub).filter(([name, value]) => isGiven(value) && !READ.has(name))),
    ...renamed(google, BESIDE),
    ...renamed(hub, BESIDE),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
  };
}

/**
 * The requested tier, or null for the standard one. Throws `AppError('parameter_unsupported')`.
 * https://ai.google.dev/gemini-api/docs/flex-inference, https://ai.google.dev/gemini-api/docs/priority-inference
 */
export function serviceTier(tier: unknown): 'flex' | 'priority' | null {
  if (tier === 'flex' || tier === 'priority') return tier;
  if (isGiven(tier) && !['auto', 'default', 'standard'].includes(tier as string)) {
    refuseParameter('service_tier', 'Gemini has the tiers auto, default, flex and priority');
  }
  return null;
}

/** Additions of Google's own layer for OpenAI's clients. https://ai.google.dev/gemini-api/docs/openai#extra-body */
function googleExtras(hub: Json): Json {
  return objectOf(objectOf(hub.extra_body).google);
}

function renamed(hub: Json, names: typeof GENERATION): Json {
  const given = names.filter(([name]) => isGiven(hub[name]));
  return Object.fromEntries(given.map(([name, gemini, convert = same]) => [gemini, convert(hub[name])]));
}

const withThinking = (config: Json | undefined): Json => (config ? { thinkingConfig: config } : {});

/** https://ai.google.dev/gemini-api/docs/structured-output */
function responseFormat(format: unknown): Json {
  if (!isObject(format) || format.type === 'text') return {};
  if (format.type === 'json_object') return { responseMimeType: 'application/json' };
  if (format.type !== 'json_schema')
    return refuseParameter('response_format', 'Gemini does not support this format');
  const { schema } = objectOf(format.json_schema);
  return {
    responseMimeType: 'application/json',
    ...(isObject(schema) && { responseJsonSchema: geminiJsonSchema(schema) }),
  };
}

/** Gemini's speech is always PCM of 24 kHz. https://ai.google.dev/gemini-api/docs/speech-generation */
function voice(audio: unknown): Json {
  const { voice: name, format } = objectOf(audio);
  if (format !== undefined && format !== 'pcm16') refuseParameter('audio.format', 'Gemini sends only pcm16');
  return typeof name === 'string' ? { voiceConfig: { prebuiltVoiceConfig: { voiceName: name } } } : {};
}

function upperCased(words: unknown): unknown {
  if (!Array.isArray(words)) return words;
  return (words as readonly unknown[]).map((word) => (typeof word === 'string' ? word.toUpperCase() : word));
}

const same = (value: unknown): unknown => value;

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;
