import type { EndpointId } from '../../../src/providers/endpoint.js';

type Field = readonly [name: string, value: string];

/** One endpoint as clients use it. Values are JSON texts, so that no JSON library writes them. */
export interface EndpointCase {
  readonly endpoint: EndpointId;
  /** Below `/v1`. */
  readonly path: string;
  readonly body: 'json' | 'form';
  /** Fields besides the model. */
  readonly request: readonly Field[];
  /** Fields of a plain answer. */
  readonly answer: readonly Field[];
  /** Events of a stream, each a JSON object or `[DONE]`; absent where the endpoint does not stream. */
  readonly events?: readonly string[];
  /** The path of a streamed request, where it differs. */
  readonly streamPath?: string;
  /** Input and output tokens that the answer and the stream report; null where they report none. */
  readonly tokens: readonly [number, number] | null;
}

const MESSAGES: Field = ['messages', '[ {"role":"user","content":"h\\u00e9 \\ud83e\\udd89", "x":1.0} ]'];
const INPUT: Field = ['input', '[ "one",\n"tw\\u006f" ]'];
const USAGE: Field = [
  'usage',
  '{ "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "x": 1.0 }',
];
const MEDIA: Field = ['usage', '{"input_tokens":12,"output_tokens":3 ,"total_tokens":15}'];
const INPUT_ONLY: Field = ['usage', '{"prompt_tokens":12,"total_tokens":12}'];
const NAMED: Field = ['model', '"a-model-2026"'];
const GOOGLE: Field = [
  'usageMetadata',
  '{"promptTokenCount":12,"candidatesTokenCount":3,"totalTokenCount":15}',
];
const SEARCHED: readonly Field[] = [
  ['id', '"r-1"'],
  ['results', '[{"index":1,"relevance_score":0.90, "document":{"text":"d\\u00e9"}}]'],
  [
    'meta',
    '{"api_version":{"version":"2"},"tokens":{"input_tokens":12,"output_tokens":3},"billed_units":{"search_units":1}}',
  ],
];
const RANKING: readonly Field[] = [
  ['query', '"t\\u0069des"'],
  ['documents', '["a" , {"text":"b","id":1.0}]'],
  ['top_n', '1.0'],
  ['return_documents', 'true'],
];

/** Without it the gateway adds it where the provider has it. */
const WITH_USAGE: Field = ['stream_options', '{ "include_usage" :true}'];

const chat = (endpoint: EndpointId, path: string): EndpointCase => ({
  endpoint,
  path,
  body: 'json',
  request: [MESSAGES, WITH_USAGE],
  answer: [NAMED, ['choices', '[{"index":0,"message":{"role":"assistant","content":"ok"}}]'], USAGE],
  events: [
    '{"id":"c","model":"a-model-2026","choices":[{"index":0,"delta":{"content":"o\\u006b"}, "x":1.0}]}',
    '{"choices":[], "usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}',
    '[DONE]',
  ],
  tokens: [12, 3],
});

const plain = (
  endpoint: EndpointId,
  path: string,
  request: readonly Field[],
  answer: readonly Field[],
  tokens: EndpointCase['tokens'],
): EndpointCase => ({ endpoint, path, body: 'json', request, answer, tokens });

const form = (endpoint: EndpointId, path: string): EndpointCase => ({
  endpoint,
  path,
  body: 'form',
  request: [],
  answer: [['text', '"t\\u00e9xt"'], MEDIA],
  events: ['{"type":"transcript.text.done","usage":{"input_tokens":12,"output_tokens":3,"total_tokens":15}}'],
  tokens: endpoint === 'image-variations' ? null : [12, 3],
});

/** Every first-class endpoint whose requests or answers the gateway reads. */
export const CASES: readonly EndpointCase[] = [
  chat('chat-completions', '/chat/completions'),
  { ...chat('completions', '/completions'), request: [['prompt', '[ "a" , "b"]'], WITH_USAGE] },
  { ...chat('fim-completions', '/fim/completions'), request: [['prompt', '"a"']] },
  chat('agent-completions', '/agents/completions'),
  {
    endpoint: 'responses',
    path: '/responses',
    body: 'json',
    request: [INPUT, ['store', 'false']],
    answer: [NAMED, ['output', '[]'], MEDIA],
    events: [
      '{"type":"response.created","response":{"model":"a-model-2026","usage":null}}',
      '{"type":"response.output_text.delta","delta":"o\\u006b", "x":1.0}',
      '{"type":"response.completed","response":{"usage":{"input_tokens":12,"output_tokens":3,"total_tokens":15}}}',
    ],
    tokens: [12, 3],
  },
  plain(
    'compaction',
    '/responses/compact',
    [INPUT],
    [['output', '[{"encrypted_content":"a\\/b"}]'], MEDIA],
    [12, 3],
  ),
  {
    endpoint: 'messages',
    path: '/messages',
    body: 'json',
    request: [['max_tokens', '1e2'], MESSAGES],
    answer: [
      NAMED,
      ['content', '[{"type":"text","text":"ok"}]'],
      ['usage', '{"input_tokens":12,"output_tokens":3}'],
    ],
    events: [
      '{"type":"message_start","message":{"model":"a-model-2026","usage":{"input_tokens":12,"output_tokens":1}}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"o\\u006b"}, "x":1.0}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}',
      '{"type":"message_stop"}',
    ],
    tokens: [12, 3],
  },
  plain('count-tokens', '/messages/count_tokens', [MESSAGES], [['input_tokens', '12']], null),
  {
    endpoint: 'generate-content',
    path: '/models/gemini-2.5%2Dflash:generateContent',
    streamPath: '/models/gemini-2.5%2Dflash:streamGenerateContent?alt=sse',
    body: 'json',
    request: [['contents', '[{"parts":[{"text":"h\\u00e9"}] ,"x":1.0}]']],
    answer: [['candidates', '[]'], GOOGLE],
    events: [
      '{"candidates":[{"content":{"parts":[{"text":"o\\u006b"}]}}], "x":1.0}',
      '{"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":3,"totalTokenCount":15}}',
    ],
    tokens: [12, 3],
  },
  {
    endpoint: 'interactions',
    path: '/interactions',
    body: 'json',
    request: [INPUT, ['store', 'false']],
    answer: [NAMED, ['steps', '[]'], ['usage', '{"total_input_tokens":12,"total_output_tokens":3}']],
    events: [
      '{"event_type":"interaction.created","interaction":{"id":"one"}}',
      '{"event_type":"step.delta","index":0,"delta":{"type":"text","text":"o\\u006b"}, "x":1.0}',
      '{"event_type":"interaction.completed","interaction":{"usage":{"total_input_tokens":12,"total_output_tokens":3,"total_tokens":15}}}',
      '[DONE]',
    ],
    tokens: [12, 3],
  },
  plain(
    'embed-content',
    '/models/gemini-embedding-001:embedContent',
    [['content', '{"parts":[{"text":"a"}]}']],
    [
      ['embedding', '{"values":[0.10,1e-3]}'],
      ['usageMetadata', '{"promptTokenCount":12}'],
    ],
    [12, 0],
  ),
  {
    endpoint: 'chat-v2',
    path: '/v2/chat',
    body: 'json',
    request: [MESSAGES, ['safety_mode', '"OFF"']],
    answer: [
      ['message', '{"content":[]}'],
      ['usage', '{"billed_units":{"input_tokens":12,"output_tokens":3}}'],
    ],
    events: [
      '{"type":"content-delta","delta":{"message":{"content":{"text":"o\\u006b"}}}, "x":1.0}',
      '{"type":"message-end","delta":{"usage":{"billed_units":{"input_tokens":12,"output_tokens":3}}}}',
    ],
    tokens: [12, 3],
  },
  plain(
    'embed-v2',
    '/v2/embed',
    [
      ['texts', '["a"]'],
      ['input_type', '"search_query"'],
    ],
    [
      ['embeddings', '{"float":[[0.10]]}'],
      ['meta', '{"billed_units":{"input_tokens":12}}'],
    ],
    [12, 0],
  ),
  plain('rerank-v2', '/v2/rerank', RANKING, SEARCHED, [12, 3]),
  plain('rerank', '/rerank', RANKING, SEARCHED, [12, 3]),
  plain(
    'embeddings',
    '/embeddings',
    [INPUT, ['encoding_format', '"base64"'], ['dimensions', '1e1']],
    [['data', '[{"embedding":[0.10,-0,1E-7]}]'], INPUT_ONLY],
    [12, 0],
  ),
  plain('moderations', '/moderations', [INPUT], [['results', '[]'], INPUT_ONLY], [12, 0]),
  plain('ocr', '/ocr', [['document', '{"document_url":"https:\\/\\/a"}']], [['pages', '[]']], null),
  {
    ...plain(
      'image-generations',
      '/images/generations',
      [['prompt', '"a"']],
      [['data', '[]'], MEDIA],
      [12, 3],
    ),
    events: [
      '{"type":"image_generation.completed","usage":{"input_tokens":12,"output_tokens":3,"total_tokens":15}}',
    ],
  },
  form('image-edits', '/images/edits'),
  form('image-variations', '/images/variations'),
  {
    ...plain(
      'speech',
      '/audio/speech',
      [
        ['input', '"a"'],
        ['voice', '"v"'],
      ],
      [],
      null,
    ),
    events: ['{"type":"speech.audio.done","usage":{"input_tokens":12,"output_tokens":3,"total_tokens":15}}'],
  },
  form('transcriptions', '/audio/transcriptions'),
  form('translations', '/audio/translations'),
];
