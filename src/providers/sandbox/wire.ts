/** OpenAI's wire format for chat completions, as far as the sandbox writes it. https://platform.openai.com/docs/api-reference/chat */

export interface WireToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export type FinishReason = 'stop' | 'length' | 'tool_calls';

export interface WireUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export interface WireCompletion {
  readonly id: string;
  readonly object: 'chat.completion';
  readonly created: number;
  readonly model: string;
  readonly choices: {
    readonly index: number;
    readonly message: {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly refusal: null;
      readonly tool_calls?: WireToolCall[];
    };
    readonly logprobs: null;
    readonly finish_reason: FinishReason;
  }[];
  readonly usage: WireUsage;
}

export interface WireDelta {
  readonly role?: 'assistant';
  readonly content?: string | null;
  readonly tool_calls?: (Partial<Omit<WireToolCall, 'function'>> & {
    readonly index: number;
    readonly function: Partial<WireToolCall['function']>;
  })[];
}

export interface WireChunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  readonly created: number;
  readonly model: string;
  readonly choices: {
    readonly index: number;
    readonly delta: WireDelta;
    readonly logprobs: null;
    readonly finish_reason: FinishReason | null;
  }[];
  readonly usage?: WireUsage | null;
}

export interface WireModel {
  readonly id: string;
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
}
