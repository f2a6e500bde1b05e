import { jsonText } from '../../../common/json/deep-json.js';
import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';
import type { ChunkTranslator, Context, HubError, StreamEvent } from '../../translation.js';
import { Output } from './output.js';
import { isSummaryRequested } from './reasoning-item.js';
import {
  BEGINNING,
  type ResponseState,
  idSuffix,
  isWhole,
  responseObject,
  responsesUsageIn,
} from './response.js';
import { ToolNames } from './tool-names.js';

/**
 * The hub's stream as the events of a response. Events are numbered; the last one contains the whole response. A stream that breaks off
 * ends with `error` and `response.failed`, like OpenAI's own. https://platform.openai.com/docs/api-reference/responses-streaming,
 * https://github.com/vercel/ai/pull/13480
 */
export class ResponseStream implements ChunkTranslator {
  private readonly output: Output;
  private state: ResponseState = BEGINNING;
  private events: StreamEvent[] = [];
  private sequence = 0;

  constructor(
    private readonly request: Json,
    private readonly context: Context,
  ) {
    this.output = new Output({
      emit: (type, fields) => this.emit(type, fields),
      idSuffix: idSuffix(context),
      isSummary: isSummaryRequested(request),
      tools: ToolNames.of(request),
      isSingleCall: request.parallel_tool_calls === false,
    });
  }

  chunk(hub: Json): readonly StreamEvent[] {
    this.begin();
    this.note(hub);
    for (const choice of list(hub.choices)) if (isObject(choice)) this.addChoice(choice);
    return this.drain();
  }

  end(): readonly StreamEvent[] {
    this.begin();
    const isComplete = isWhole(this.state.finishReason);
    this.output.close(isComplete);
    const status = isComplete ? 'completed' : 'incomplete';
    this.state = { ...this.state, status, output: this.output.snapshot(isComplete) };
    this.tellResponse(`response.${status}`);
    return this.drain();
  }

  fail(error: HubError): readonly StreamEvent[] {
    this.begin();
    this.output.close(false);
    const { code, message, param } = error;
    this.emit('error', { code, message, param });
    this.state = { ...this.state, status: 'failed', output: this.output.snapshot(false), error };
    this.tellResponse('response.failed');
    return this.drain();
  }

  private begin(): void {
    if (this.sequence > 0) return;
    this.tellResponse('response.created');
    this.tellResponse('response.in_progress');
  }

  private note(hub: Json): void {
    const { model, service_tier } = hub;
    this.state = {
      ...this.state,
      model: typeof model === 'string' && model !== '' ? model : this.state.model,
      service_tier: typeof service_tier === 'string' ? service_tier : this.state.service_tier,
      usage: responsesUsageIn(hub) ?? this.state.usage,
    };
  }

  /** A response has one choice. */
  private addChoice({ index, delta, finish_reason, logprobs }: Json): void {
    if (typeof index === 'number' && index !== 0) return;
    if (isObject(delta)) this.output.add(delta, logprobs);
    if (typeof finish_reason === 'string') this.state = { ...this.state, finishReason: finish_reason };
  }

  private tellResponse(type: string): void {
    this.emit(type, { response: responseObject(this.request, this.context, this.state) });
  }

  private emit(type: string, fields: Json): void {
    const event = { type, sequence_number: this.sequence++, ...fields };
    this.events.push({ event: type, data: jsonText(event) });
  }

  private drain(): readonly StreamEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }
}
