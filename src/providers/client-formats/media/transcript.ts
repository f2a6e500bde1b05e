import type { Json } from '../../endpoint.js';
import { list, textOrNull } from '../../endpoints/reading.js';
import { MediaFile } from '../../translation.js';
import { cuesOf, type Cue } from './cues.js';

type TranscriptFormat = (hub: Json, request: Json) => Json | MediaFile;

const FORMS: ReadonlyMap<unknown, TranscriptFormat> = new Map<unknown, TranscriptFormat>([
  ['verbose_json', verbose],
  ['text', (hub) => text('text/plain; charset=utf-8', `${textOrNull(hub.text) ?? ''}\n`)],
  ['srt', (hub) => text('application/x-subrip; charset=utf-8', srt(cuesOf(hub)))],
  ['vtt', (hub) => text('text/vtt; charset=utf-8', vtt(cuesOf(hub)))],
]);

/**
 * The hub's transcript, which is OpenAI's verbose one (`text`, `language`, `duration`, `words`, `segments`, `usage`), in the requested
 * `response_format`. https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
export function transcriptOf(hub: Json, request: Json): Json | MediaFile {
  const form = FORMS.get(request.response_format);
  if (form) return form(hub, request);
  return Object.fromEntries(Object.entries(hub).filter(([name]) => !ONLY_VERBOSE.has(name)));
}

const ONLY_VERBOSE: ReadonlySet<string> = new Set(['words', 'segments', 'language', 'duration', 'task']);

/** Times of words only if they are requested; times of segments also by default. */
function verbose(hub: Json, { timestamp_granularities: request }: Json): Json {
  const { words, segments, ...rest } = hub;
  const granularities = typeof request === 'string' ? [request] : list(request);
  const hasSegments = granularities.length === 0 || granularities.includes('segment');
  return {
    task: 'transcribe',
    ...rest,
    ...(granularities.includes('word') && words !== undefined ? { words } : {}),
    ...(hasSegments ? { segments: segments ?? cuesOf(hub).map(segment) } : {}),
  };
}

const segment = ({ start, end, text: line }: Cue, id: number): Json => ({ id, start, end, text: line });

const text = (contentType: string, body: string): MediaFile => new MediaFile(contentType, Buffer.from(body));

const srt = (cues: readonly Cue[]): string =>
  cues
    .map(
      ({ start, end, text: line }, index) =>
        `${index + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${line}\n`,
    )
    .join('\n');

/** https://www.w3.org/TR/webvtt1/ */
const vtt = (cues: readonly Cue[]): string =>
  [
    'WEBVTT\n',
    ...cues.map(({ start, end, text: line }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${line}\n`),
  ].join('\n');

/** `01:02:03,456`. */
function clock(seconds: number, mark: string): string {
  const ms = Math.round(seconds * 1000);
  const part = (value: number, digits = 2): string => String(value).padStart(digits, '0');
  const whole = Math.floor(ms / 1000);
  const hours = Math.floor(whole / 3600);
  return `${part(hours)}:${part(Math.floor(whole / 60) % 60)}:${part(whole % 60)}${mark}${part(ms % 1000, 3)}`;
}

/** Whether the requested format needs times. */
export function needsTimes({ response_format: format, timestamp_granularities: request }: Json): boolean {
  return format === 'verbose_json' || format === 'srt' || format === 'vtt' || request !== undefined;
}
