import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Estimate } from '../types/estimate.js';
import { type LimitHold, UNUSED } from '../types/limit-reservation.js';
import type { Exchange } from '../recording/exchange.js';
import type { Target } from '../types/target.js';
import type { Admission } from '../upstream/admission.js';
import { isLimited } from '../types/exchange-facts.js';
import type { PassGate } from './direction.js';
import type { FrameListener } from './frames.js';
import { SessionInput } from './session-input.js';
import type { ReportedUse, SessionObserver } from './session-meter.js';
import { plus, type SessionPart, SessionParts, type SessionUse } from './session-parts.js';
import { actualOfSession, release, reservedBy, SessionPrices, type SessionStep } from './session-steps.js';

/** Input of a session's reservations. */
export interface ReservedSession {
  readonly admission: Admission;
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly target: Target;
  /** The reservation of the opened session, which counts against concurrency; null without limits. */
  readonly opening: LimitHold | null;
  /** Stores the use so far, to be charged if the process dies. Resolves when that would survive. */
  readonly keep: (parts: readonly SessionPart[]) => Promise<void>;
  /** What waited for a reservation may pass. */
  readonly onCovered: () => void;
  /** A limit has no room for the next response, and none is running. */
  readonly onRefused: (error: AppError) => void;
}

/**
 * The reservations of one session. Whatever the client sends passes only when a reservation covers the responses that may follow from it:
 * one for each that runs or was requested, or for the one that the provider may begin by itself. A response that ends is charged what it
 * reported, once; one without an end on record, what was reserved for it.
 *
 * Where no limit applies, nothing waits and the client's messages are not read, but responses are charged by the same rule.
 */
export class SessionReservations implements SessionObserver, PassGate, FrameListener {
  private caller: Principal;
  private target: Target;
  private readonly input: SessionInput;
  private readonly parts = new SessionParts();
  private readonly prices: SessionPrices;
  /** The running responses, then those to come. */
  private steps: SessionStep[] = [];
  private running = 0;
  /** Responses that the client has requested and that have not begun, and those whose request has passed. */
  private requested = 0;
  private passed = 0;
  /** The client has sent something since the last response began, so that the provider may begin one by itself. */
  private mayBegin = false;
  private isFirstFree = true;
  private isCovering = false;
  /** Something changed that is not stored yet. */
  private hasChanged = false;
  private isWaiting = false;
  private hasEnded = false;
  private hasAnswered = false;

  constructor(private readonly session: ReservedSession) {
    this.caller = session.caller;
    this.target = session.target;
    this.input = new SessionInput(() => session.admission.outputCeiling);
    this.prices = new SessionPrices(() =>
      session.admission.priceAt(this.target, session.exchange.trail.model),
    );
  }

  /** Every response has ended, and there was one: the client may leave. */
  get isAnswered(): boolean {
    return this.hasAnswered && this.running === 0 && this.requested === 0;
  }

  /** The client's messages are read only where limits apply. */
  get isListening(): boolean {
    return isLimited(this.caller, this.target);
  }

  /** From now on these apply, with their limits as they are now. */
  follow(caller: Principal, target: Target): void {
    this.caller = caller;
    this.target = target;
  }

  onText(text: Buffer): void {
    this.sent(this.input.read(text));
  }

  onUnread(bytes: number | null): void {
    if (bytes !== null) this.sent(this.input.readLong(bytes));
  }

  private sent({ isSettings, isRequest }: { isSettings: boolean; isRequest: boolean }): void {
    if (!isSettings) this.mayBegin = true;
    if (isRequest) this.requested += 1;
  }

  mayPass(): boolean {
    if (this.isListening && !(this.isCovered && !this.isCovering)) {
      this.isWaiting = true;
      void this.cover();
      return false;
    }
    this.passed = this.requested;
    return true;
  }

  responseBegan(): void {
    this.began();
    void this.cover();
  }

  private began(): void {
    if (this.requested > 0) this.requested -= 1;
    if (this.passed > 0) this.passed -= 1;
    this.running += 1;
    this.mayBegin = false;
    if (!this.isListening && this.steps.length < this.running) this.steps.push(this.newStep());
    this.input.responseBegan();
  }

  responseEnded(use: ReportedUse, hasFailed: boolean): void {
    // Some providers report only the end.
    if (this.running === 0) this.began();
    this.running -= 1;
    this.hasAnswered = true;
    const step = this.steps.shift();
    this.input.responseEnded(use.usage);
    if (step)
      this.settle(
        step,
        hasFailed ? this.prices.reported(use) : (this.prices.reported(use) ?? this.prices.estimated(step)),
      );
    else this.chargeBeside(this.prices.reported(use));
    this.trim();
    void this.cover();
  }

  /** Its reservation stays until a response ends: the refusal may be of another event. */
  requestRefused(): void {
    if (this.requested > 0) this.requested -= 1;
    if (this.passed > 0) this.passed -= 1;
  }

  transcribed(use: ReportedUse): void {
    const charged = this.prices.reported(use) ?? this.prices.useOf(this.input.transcription);
    // Without responses, a session transcribes only: each transcription is a step.
    const step = this.running + this.requested === 0 ? this.steps.shift() : undefined;
    if (!step) return this.chargeBeside(charged);
    this.mayBegin = false;
    this.input.audioDropped();
    this.settle(step, charged);
    void this.cover();
  }

  audioDropped(): void {
    this.input.audioDropped();
  }

  outputConfirmed(tokens: number | null): void {
    this.input.outputConfirmed(tokens);
  }

  audioChanged(characters: number): void {
    this.input.audioChanged(characters);
  }

  becameUnreadable(): void {
    this.parts.becameUnknown();
    const detail = 'a WebSocket with unreadable frames';
    if (this.isListening)
      this.session.onRefused(new AppError('usage_unknown', { detail, reader: 'a limit' }));
  }

  /** Ends the session. Responses without an end on record are charged their reservation. */
  finish(): SessionParts {
    this.hasEnded = true;
    const unended = this.running + this.passed;
    for (const [at, step] of this.steps.entries())
      if (at < unended) this.settle(step, this.prices.estimated(step));
      else release(step);
    for (let at = this.steps.length; at < unended; at++)
      this.chargeBeside(this.prices.estimated(this.newStep()));
    this.steps = [];
    this.session.opening?.settle(UNUSED);
    return this.parts;
  }

  private get needed(): number {
    const certain = this.running + this.requested;
    return certain === 0 && this.mayBegin ? 1 : certain;
  }

  private get isCovered(): boolean {
    if (this.steps.length < this.needed) return false;
    const { tokens } = this.input;
    return this.steps.every(({ inputTokens }, at) => at < this.running || inputTokens >= tokens);
  }

  private get lacksCover(): boolean {
    return this.isListening && !this.isCovered && !this.hasEnded;
  }

  /** Reserves what is missing and stores what is charged if the process dies; then lets pass what waits for it. */
  private async cover(): Promise<void> {
    this.hasChanged = true;
    if (this.isCovering || this.hasEnded) return;
    this.isCovering = true;
    try {
      while (this.lacksCover || (this.hasChanged && !this.hasEnded)) {
        this.hasChanged = false;
        while (this.lacksCover) await this.coverNext();
        if (!this.hasEnded) await this.session.keep(this.soFar());
      }
    } catch (error) {
      return this.refuse(AppError.from(error));
    } finally {
      this.isCovering = false;
    }
    this.letPass();
  }

  private letPass(): void {
    if (this.hasEnded || !this.isWaiting) return;
    this.isWaiting = false;
    this.passed = this.requested;
    this.session.onCovered();
  }

  private async coverNext(): Promise<void> {
    const { tokens } = this.input;
    const at = this.steps.findIndex((step, index) => index >= this.running && step.inputTokens < tokens);
    const step = this.steps[at];
    if (!step) return this.addStep();
    const estimate = this.prices.estimate(tokens - step.inputTokens, 0);
    const hold = await this.reserve(estimate, 'input');
    // Responses may have begun or ended meanwhile.
    if (this.hasEnded || !this.steps.includes(step)) return hold.release();
    const longer = { ...step, inputTokens: tokens, holds: [...step.holds, hold] };
    this.steps = this.steps.map((one) => (one === step ? longer : one));
  }

  private async addStep(): Promise<void> {
    const step = this.newStep();
    const estimate = this.prices.estimate(step.inputTokens, step.outputTokens);
    const hold = await this.reserve(estimate, step.isFirst ? 'input' : 'response');
    step.holds.push(hold);
    if (this.hasEnded) release(step);
    else this.steps.push(step);
    this.isFirstFree &&= !step.isFirst;
  }

  private newStep(): SessionStep {
    const { tokens: inputTokens, outputTokens } = this.input;
    return { holds: [], inputTokens, outputTokens, isFirst: this.isFirstFree };
  }

  private reserve(estimate: Estimate, step: 'response' | 'input'): LimitHold | Promise<LimitHold> {
    const { admission, exchange } = this.session;
    return admission.reserveStep({ exchange, caller: this.caller, target: this.target, estimate, step });
  }

  /** A running response may end and free enough. If it has no reservation itself, the session must end now. */
  private refuse(error: AppError): void {
    if (this.hasEnded) return;
    if (this.running > 0 && this.steps.length >= this.running) return;
    this.session.onRefused(error);
  }

  /** Releases reservations of responses that were never begun. */
  private trim(): void {
    if (this.running + this.requested > 0) return;
    for (const step of this.steps.splice(this.needed)) {
      this.isFirstFree ||= step.isFirst;
      release(step);
    }
  }

  private settle({ holds }: SessionStep, use: SessionUse | null): void {
    const [first, ...slices] = holds;
    const charges = first ? [...first.settle(use ? actualOfSession(use) : UNUSED)] : [];
    for (const slice of slices) slice.settle(UNUSED);
    if (use) this.parts.add(use, charges);
  }

  /** Charges what no step was reserved for. */
  private chargeBeside(use: SessionUse | null): void {
    if (!use) return;
    const hold = this.steps.at(-1)?.holds[0] ?? this.session.opening;
    this.parts.add(use, hold?.chargeBeside(actualOfSession(use)) ?? []);
    void this.cover();
  }

  /** The parts so far; the last one with all that is reserved. */
  private soFar(): readonly SessionPart[] {
    const steps = this.steps.map((step) => ({ use: this.prices.estimated(step), charges: reservedBy(step) }));
    const last = steps.reduce((part, { use, charges }) => plus(part, use, charges), this.parts.last);
    return [...this.parts.all.slice(0, -1), last];
  }
}
