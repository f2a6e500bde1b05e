/** The one call that the benchmark makes to Gatehouse's administration. */

/** @returns {Promise<string>} slug of a new virtual key whose provider is the fake upstream. */
export async function createVirtualKey(base, keys, upstreamPort) {
  const response = await fetch(`${base}/v1/virtual-keys`, {
    method: 'POST',
    headers: { 'x-gateway-api-key': keys.workspace_api_key, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'bench',
      provider: 'openai',
      key: 'sk-bench',
      custom_host: `http://127.0.0.1:${upstreamPort}/v1`,
      workspace_id: keys.workspace_id,
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`no virtual key: ${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text).data.slug;
}
