import type { EndpointOperation } from '../endpoint.js';
import { mostPages } from '../endpoints/ocr.js';
import { post } from '../endpoints/table/operation.js';
import type { ChargeRule, ChargeRow } from './charge.js';
import { imagesCharge, speechCharge, transcriptsCharge } from './media.js';
import {
  compactionCharge,
  embedContentCharge,
  embeddingsCharge,
  googleBounds,
  interactionsCharge,
  moderationsCharge,
  rerankCharge,
  responsesCharge,
  textCharge,
} from './text.js';

const posts = (...paths: readonly string[]): readonly EndpointOperation[] => paths.map((path) => post(path));
const google = (...methods: readonly string[]): readonly EndpointOperation[] =>
  methods.flatMap((method) => posts(`/v1beta/models/{model}:${method}`, `/models/{model}:${method}`));

const TOKENS = {
  charged: 'input and output tokens by kind; searches and pages if the response reports them',
  knownFrom: 'the response; if it reports none, its counted text',
};
const BYTES = 'one token per byte of the body';
const bounded = (fields: string): string => `${BYTES}, plus ${fields} or the output ceiling`;

/** The maximum number of pages of a document. */
const ocrCharge: ChargeRule = {
  most: ({ body }) => [mostPages(body)],
  unreported: () => 'reservation',
  hasNoTokens: true,
};

/** Requests that are billed themselves. */
const metered: readonly ChargeRow[] = [
  {
    ...TOKENS,
    operations: posts('/chat/completions', '/agents/completions'),
    charge: textCharge({ most: ['max_completion_tokens', 'max_tokens'], times: ['n'] }),
    reserved: bounded('`max_completion_tokens` or `max_tokens` times `n`,'),
  },
  {
    ...TOKENS,
    operations: posts('/completions', '/fim/completions'),
    charge: textCharge({ most: ['max_tokens'], times: ['n', 'best_of'] }),
    reserved: bounded('`max_tokens` times `n` or `best_of` per prompt,'),
  },
  {
    ...TOKENS,
    operations: posts('/messages', '/v2/chat'),
    charge: textCharge({ most: ['max_tokens'] }),
    reserved: bounded('`max_tokens`'),
  },
  {
    ...TOKENS,
    knownFrom: 'the response; if it reports none, its counted text; with `background`, the reservation',
    operations: posts('/responses'),
    charge: responsesCharge,
    reserved: bounded('`max_output_tokens`'),
  },
  {
    ...TOKENS,
    knownFrom: 'the response; if it reports none, the reservation',
    operations: posts('/responses/compact'),
    charge: compactionCharge,
    reserved: `${BYTES}, plus the output ceiling`,
  },
  {
    ...TOKENS,
    operations: google('generateContent', 'streamGenerateContent'),
    charge: textCharge(googleBounds),
    reserved: bounded('`maxOutputTokens` times `candidateCount`,'),
  },
  {
    ...TOKENS,
    knownFrom: 'the response; if it reports none, its counted text; with `background`, the reservation',
    operations: posts('/interactions'),
    charge: interactionsCharge,
    reserved: `${bounded('`max_output_tokens`')}; refused with an \`agent\``,
  },
  {
    operations: posts('/embeddings', '/v2/embed'),
    charge: embeddingsCharge,
    charged: 'input tokens',
    knownFrom: 'the response; if it reports none, the counted text, or the reservation for other input',
    reserved: BYTES,
  },
  {
    operations: google('embedContent', 'batchEmbedContents'),
    charge: embedContentCharge,
    charged: 'input tokens',
    knownFrom: 'the response; if it reports none, the counted text, or the reservation for other input',
    reserved: BYTES,
  },
  {
    operations: posts('/rerank', '/v2/rerank'),
    charge: rerankCharge,
    charged: 'input tokens, or the search',
    knownFrom: 'the response (tokens or search units); if it reports none, the counted text',
    reserved: `${BYTES}, or one search`,
  },
  {
    operations: posts('/moderations'),
    charge: moderationsCharge,
    charged: 'input tokens; nothing at OpenAI and Azure OpenAI',
    knownFrom: 'the response; if it reports none, the counted text',
    reserved: BYTES,
  },
  {
    operations: posts('/ocr'),
    charge: ocrCharge,
    charged: 'pages, and annotated pages',
    knownFrom: 'the response, else the reservation',
    reserved: 'the pages in `pages`, else 1,000, the most that a document can have',
  },
  {
    operations: posts('/images/generations', '/images/edits', '/images/variations'),
    charge: imagesCharge,
    charged: 'images by size and quality, or tokens',
    knownFrom: 'the response, else `n`, `size` and `quality`; for tokens, else the reservation',
    reserved: '`n` images; 6,240 tokens each, more for a larger `size`, and 8,000 per edited image',
  },
  {
    operations: posts('/audio/speech'),
    charge: speechCharge,
    charged: 'characters, seconds of speech, or tokens',
    knownFrom: 'the event stream, else the characters of `input`; for seconds and tokens, the reservation',
    reserved: 'the characters of `input`; 0.25 s and 6 audio tokens each, more for a lower `speed`',
  },
  {
    operations: posts('/audio/transcriptions', '/audio/translations'),
    charge: transcriptsCharge,
    charged: 'seconds of audio, or tokens',
    knownFrom:
      'the response, else the duration of the file (wav, mp3, mp4, ogg, flac, webm); for tokens, else the reservation',
    reserved:
      'the duration of the file, or 2 ms per byte of another format; 40 input and 30 output tokens per second',
  },
];

const NOTHING = { charge: 'nothing', charged: 'nothing', knownFrom: '–', reserved: 'nothing' } as const;

/** Requests that providers do not bill: they count, store, or end something. */
const free: readonly ChargeRow[] = [
  {
    ...NOTHING,
    operations: [...posts('/messages/count_tokens', '/responses/input_tokens'), ...google('countTokens')],
  },
  {
    ...NOTHING,
    operations: posts('/files', '/v1beta/files', '/uploads', '/uploads/{id}/parts', '/uploads/{id}/complete'),
  },
  {
    ...NOTHING,
    operations: posts(
      ...['/batches/{id}/cancel', '/messages/batches/{id}/cancel', '/uploads/{id}/cancel'],
      ...['/fine_tuning/jobs/{id}/cancel', '/fine_tuning/jobs/{id}/pause', '/responses/{id}/cancel'],
      ...['/interactions/{id}/cancel'],
      ...['/threads/{id}/runs/{run_id}/cancel', '/realtime/calls/{id}/hangup', '/realtime/calls/{id}/reject'],
      '/vector_stores/{id}/file_batches/{batch_id}/cancel',
    ),
  },
  {
    ...NOTHING,
    operations: posts(
      ...['/assistants', '/assistants/{id}', '/threads', '/threads/{id}', '/threads/{id}/messages'],
      ...['/threads/{id}/messages/{message_id}', '/conversations', '/conversations/{id}'],
      ...['/conversations/{id}/items', '/chat/completions/{id}', '/vector_stores/{id}'],
      '/vector_stores/{id}/files/{file_id}',
    ),
  },
];

/** Known to be unmeasured. Requests that are not listed at all are treated the same. */
const UNMEASURED = {
  charge: 'unmeasured',
  charged: 'tokens, calls, storage or seconds',
  knownFrom: 'unknown',
  reserved: 'refused under a limit in dollars or tokens',
} as const;

const unmeasured: readonly ChargeRow[] = [
  {
    ...UNMEASURED,
    operations: posts('/batches', '/messages/batches', '/fine_tuning/jobs', '/fine_tuning/jobs/{id}/resume'),
  },
  {
    ...UNMEASURED,
    operations: posts(
      '/threads/runs',
      '/threads/{id}/runs',
      '/threads/{id}/runs/{run_id}/submit_tool_outputs',
    ),
  },
  {
    ...UNMEASURED,
    operations: posts(
      ...['/vector_stores', '/vector_stores/{id}/files', '/vector_stores/{id}/file_batches'],
      ...['/vector_stores/{id}/search', '/containers', '/videos', '/videos/{id}/remix'],
      ...['/v1beta/cachedContents', '/cachedContents'],
    ),
  },
  {
    ...UNMEASURED,
    operations: posts(
      ...['/realtime/client_secrets', '/realtime/sessions', '/realtime/transcription_sessions'],
      ...['/realtime/calls', '/realtime/calls/{id}/accept', '/realtime/calls/{id}/refer'],
    ),
  },
];

/** How requests are charged, by their kind. Every request of an endpoint is listed; a test compares both tables. */
export const chargeRows: readonly ChargeRow[] = [...metered, ...free, ...unmeasured];
