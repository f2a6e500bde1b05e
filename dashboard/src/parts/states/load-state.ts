/** What went wrong, as an `ErrorCard` shows it. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly requestId: string | null;
}

/** Where loading stands. While `isRefreshing`, what was there before stays visible and is dimmed. */
export type LoadState =
  | { readonly phase: 'loading'; readonly cancel?: () => void }
  | { readonly phase: 'error'; readonly error: ShownError; readonly retry: () => void }
  | { readonly phase: 'forbidden'; readonly scope: string }
  | { readonly phase: 'ready'; readonly isRefreshing?: boolean };
