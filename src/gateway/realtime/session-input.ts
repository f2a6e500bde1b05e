import { duplicateMember } from '../../common/json/duplicate-members.js';
import type { Usage } from '../../common/contracts/usage.js';
import {
  responseInput,
  responseOutput,
  sessionMessageOf,
  type SessionMessage,
} from '../../providers/charging/sessions.js';
import { parsedObject } from '../recording/reading.js';

/** Input is reserved in slices of this many tokens, so that a long speech needs few reservations. */
const SLICE_TOKENS = 256;
/** PCM at 24 kHz, the format of a session that names none. */
const DEFAULT_AUDIO_CHARACTERS = 3_200;

/** What a message may mean of which the provider may read the other of two equal members. */
const LARGEST = { isRequest: true, outputTokens: null } as const;

/** Bounds the next response of a session: by what the client sent, and by the context that earlier responses reported. */
export class SessionInput {
  private audioCharacters = DEFAULT_AUDIO_CHARACTERS;
  /** Of the longest response: its input, and its output, which is input of the next one. */
  private reportedTokens = 0;
  private contextTokens = 0;
  /** Sent since the last response began. */
  private textTokens = 0;
  private audioTokens = 0;
  /** By the provider's settings; null for the model's own. */
  private confirmedOutput: number | null = null;
  /** The largest that the client stated: it may be ahead of what its provider confirmed. 0 before. */
  private claimedOutput: number | null = 0;
  /** The audio of the last turn, which may be transcribed. */
  private turnTokens = 0;

  constructor(private readonly outputCeiling: () => number) {}

  /** Input tokens of the next response at most, in whole slices. */
  get tokens(): number {
    const tokens = this.contextTokens + this.textTokens + this.audioTokens;
    return responseInput(Math.ceil(tokens / SLICE_TOKENS) * SLICE_TOKENS);
  }

  get outputTokens(): number {
    const ceiling = this.outputCeiling();
    return Math.max(
      responseOutput(this.confirmedOutput, ceiling),
      responseOutput(this.claimedOutput, ceiling),
    );
  }

  /** Assumed for a transcription that reported nothing. */
  get transcription(): Usage {
    const heard = Math.ceil(Math.max(this.turnTokens, this.audioTokens, 1));
    return { input_tokens: heard, output_tokens: heard, audio_input_tokens: heard };
  }

  read(text: Buffer): SessionMessage {
    const written = text.toString('utf8');
    const isAmbiguous = duplicateMember(written) !== null;
    const message = sessionMessageOf(
      isAmbiguous ? null : parsedObject(written),
      text.length,
      this.audioCharacters,
    );
    return this.note(isAmbiguous ? { ...message, ...LARGEST } : message);
  }

  readLong(bytes: number): SessionMessage {
    return this.note(sessionMessageOf(null, bytes, this.audioCharacters));
  }

  outputConfirmed(tokens: number | null): void {
    this.confirmedOutput = tokens;
  }

  audioChanged(characters: number): void {
    this.audioCharacters = characters;
  }

  audioDropped(): void {
    this.audioTokens = 0;
  }

  /** A response began: everything sent so far is its input. */
  responseBegan(): void {
    this.turnTokens = this.audioTokens;
    this.contextTokens += this.textTokens + this.audioTokens;
    this.textTokens = this.audioTokens = 0;
  }

  responseEnded(usage: Usage | null): void {
    const tokens = usage ? usage.input_tokens + usage.output_tokens : this.contextTokens + this.outputTokens;
    this.contextTokens = this.reportedTokens = Math.max(this.reportedTokens, tokens);
  }

  private note(message: SessionMessage): SessionMessage {
    if (message.isAudio) this.audioTokens += message.tokens;
    else this.textTokens += message.tokens;
    if (message.outputTokens !== undefined) this.claim(message.outputTokens);
    return message;
  }

  /** A client raises the reservation at once, and lowers it only when its provider confirms that. */
  private claim(stated: number | null): void {
    const { claimedOutput } = this;
    this.claimedOutput = stated === null || claimedOutput === null ? null : Math.max(stated, claimedOutput);
  }
}
