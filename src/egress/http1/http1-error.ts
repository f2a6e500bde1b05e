type Http1Code = 'HTTP1_RESPONSE_INVALID' | 'HTTP1_CONNECTION_CLOSED' | 'HTTP1_ABORTED';

/** Why an exchange ended without a complete response. `upstreamFailure` has the message for each code. */
export class Http1Error extends Error {
  constructor(
    readonly code: Http1Code,
    message: string,
  ) {
    super(message);
  }
}

/** A request that must not be written, because its bytes could be misread. Nothing was sent. */
export class InvalidRequestError extends Error {
  constructor(
    message: string,
    /** The name of the invalid header; null if another part of the request is invalid. */
    readonly header: string | null = null,
  ) {
    super(message);
  }
}

export const invalidResponse = (what: string): Http1Error => new Http1Error('HTTP1_RESPONSE_INVALID', what);

export const connectionClosed = (): Http1Error =>
  new Http1Error('HTTP1_CONNECTION_CLOSED', 'the connection was closed');
