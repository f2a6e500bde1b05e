/** The requests of the benchmark as bytes: about 1 KB of an ordinary conversation. */
const SYSTEM =
  'You are a careful assistant. Answer briefly, name your sources, and say so when you do not know.';
const QUESTION = 'Explain how a reverse proxy can forward a response while it still arrives. '
  .repeat(8)
  .trim();

function chatBody(stream) {
  return JSON.stringify({
    model: 'gpt-4o-mini',
    messages: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: QUESTION },
    ],
    max_tokens: 256,
    temperature: 0.2,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  });
}

/** The complete request, head and body, with this contender's headers. */
export function chatRequest(port, headers, { stream }) {
  const body = chatBody(stream);
  const lines = [
    'POST /v1/chat/completions HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'accept: application/json',
    'user-agent: bench',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
