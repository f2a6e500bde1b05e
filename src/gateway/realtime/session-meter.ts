import { isPossibleUsage, type Usage } from '../../common/contracts/usage.js';
import { audioCharactersOf, confirmedOutput } from '../../providers/charging/sessions.js';
import type { Json } from '../../providers/endpoint.js';
import {
  dropsAudio,
  hasItems,
  isTranscription,
  realtimeUsage,
  responseEventOf,
  transcriptionModelOf,
} from '../../providers/endpoints/realtime.js';
import { nothingRead, parsedObject, type Reading } from '../recording/reading.js';
import type { FrameListener } from './frames.js';

/** The cost of a usage at the price of the first of these models that has one, in nano-dollars; null when none has. */
export type CostOf = (usage: Usage, models: readonly (string | null)[]) => number | null;

/** Use that a provider reported: of a response, or of a transcription. */
export interface ReportedUse {
  /** Null when the event reported none. */
  readonly usage: Usage | null;
  /** Nano-dollars; null when it is unknown. */
  readonly cost: number | null;
}

/** Receives what a provider reports in its events. */
export interface SessionObserver {
  responseBegan(): void;
  /** `hasFailed`: its provider reports a failure, and bills nothing unless it reports usage. */
  responseEnded(use: ReportedUse, hasFailed: boolean): void;
  /** The provider refused an event of the client, which may have requested a response. */
  requestRefused(): void;
  transcribed(use: ReportedUse): void;
  /** Audio sent so far is not part of the input. */
  audioDropped(): void;
  /** The format of the input, as characters of base64 per token. */
  audioChanged(characters: number): void;
  /** The maximum output tokens of a response; null for the model's own. */
  outputConfirmed(tokens: number | null): void;
  /** The provider's events cannot be read any more. */
  becameUnreadable(): void;
}

/** Every event that is worth parsing contains one of these; audio events do not. */
const WORTH_READING = [
  '"usage"',
  '"session.',
  '"response.created"',
  '"response.done"',
  '"response.failed"',
  '"error"',
  '"input_audio_buffer.',
] as const;

/** Pieces of output are not parsed: there are many, and audio is long. */
const isOutput = (text: Buffer): boolean => text.includes('.delta"') && text.includes('"response.');

/** Reads the events of a provider: reported tokens, each piece at its own price, and the beginning and end of responses. */
export class SessionMeter implements FrameListener {
  readonly reading: Reading = nothingRead();
  private transcriptionModel: string | null = null;
  /** A piece of output passed since a response last ended. */
  private hasOutput = false;

  constructor(
    /** The requested model. */
    private readonly model: string | null,
    private readonly costOf: CostOf,
    private readonly observer: SessionObserver,
  ) {}

  onText(text: Buffer): void {
    this.reading.firstEventAt ??= performance.now();
    this.hasOutput ||= isOutput(text);
    if (!WORTH_READING.some((mark) => text.includes(mark))) return;
    const event = parsedObject(text.toString('utf8'));
    if (event) this.note(event);
  }

  /** A single long message reports no usage: a response whose end is not read is charged its reservation. */
  onUnread(bytes: number | null): void {
    if (bytes === null) this.observer.becameUnreadable();
  }

  private note(event: Json): void {
    const { observer } = this;
    this.noteSettings(event);
    if (dropsAudio(event)) observer.audioDropped();
    if (isTranscription(event)) return observer.transcribed(this.useIn(event, [this.transcriptionModel]));
    const about = responseEventOf(event);
    if (about === 'began') observer.responseBegan();
    else if (about === 'refused') observer.requestRefused();
    else if (about !== null) observer.responseEnded(this.responseUse(event), about === 'failed');
  }

  /** A response with output that reports none has reported nothing. */
  private responseUse(event: Json): ReportedUse {
    const use = this.useIn(event, [this.reading.responseModel, this.model]);
    const hasOutput = this.hasOutput || hasItems(event);
    this.hasOutput = false;
    return hasOutput && use.usage?.output_tokens === 0 ? { usage: null, cost: null } : use;
  }

  private noteSettings(event: Json): void {
    this.reading.responseModel = realtimeUsage.modelOf(event)?.slice(0, 256) ?? this.reading.responseModel;
    this.transcriptionModel = transcriptionModelOf(event) ?? this.transcriptionModel;
    const characters = audioCharactersOf(event);
    if (characters !== null) this.observer.audioChanged(characters);
    const output = confirmedOutput(event);
    if (output !== undefined) this.observer.outputConfirmed(output);
  }

  private useIn(event: Json, models: readonly (string | null)[]): ReportedUse {
    const reported = realtimeUsage.fromAnswer(event);
    const usage = reported && isPossibleUsage(reported) ? reported : null;
    return { usage, cost: usage && this.costOf(usage, models) };
  }
}
