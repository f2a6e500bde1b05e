/** What went wrong, as shown by an `ErrorCard`. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly requestId: string | null;
}

/** The loading state. While `isRefreshing`, the previous content stays visible and is dimmed. */
export type LoadState =
  | { readonly phase: 'loading'; readonly cancel?: () => void }
  | { readonly phase: 'error'; readonly error: ShownError; readonly retry: () => void }
  | { readonly phase: 'forbidden'; readonly scope: string }
  | { readonly phase: 'ready'; readonly isRefreshing?: boolean };
