/** Tokens by kind. `input` and `output` are totals that include the finer kinds. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly reasoning_tokens?: number;
  readonly audio_input_tokens?: number;
  readonly audio_output_tokens?: number;
  // The remaining fields have no column. They determine the cost of the request.
  readonly cache_write_1h_tokens?: number;
  readonly cached_audio_input_tokens?: number;
  readonly cached_image_input_tokens?: number;
  readonly image_input_tokens?: number;
  readonly video_input_tokens?: number;
  readonly image_output_tokens?: number;
  readonly video_output_tokens?: number;
  /** Not part of the totals: tokens read from pages that a response cites. */
  readonly citation_tokens?: number;
  readonly web_searches?: number;
  readonly file_searches?: number;
  /** Audio that is charged by the second, milliseconds. */
  readonly audio_input_ms?: number;
  /** Pages of documents that were read. */
  readonly document_pages?: number;
  /** Those of the pages that were also annotated. */
  readonly annotated_pages?: number;
  /** Search units of a rerank request. */
  readonly search_units?: number;
  /** Text for speech synthesis, in Unicode code points. */
  readonly input_characters?: number;
  /** Duration of generated audio, milliseconds. */
  readonly audio_output_ms?: number;
  /** Duration of generated video, milliseconds. */
  readonly video_output_ms?: number;
  /** Generated images. Size and quality select their price; null or absent means unknown. */
  readonly image_count?: number;
  readonly image_size?: string | null;
  readonly image_quality?: string | null;
}

/** The fields of a usage that hold a number. */
export type UsageCount = Exclude<keyof Usage, 'image_size' | 'image_quality'>;

/** The largest total of tokens of one request: no model's context has more than ten million, so a higher count is a mistake. */
export const MOST_TOKENS = 100_000_000;

/** Whether the totals are possible; every finer count of tokens is part of one of them. */
export const isPossibleUsage = ({ input_tokens, output_tokens }: Usage): boolean =>
  input_tokens <= MOST_TOKENS && output_tokens <= MOST_TOKENS;
