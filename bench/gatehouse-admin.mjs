/** The benchmark's calls to Gatehouse's administration. */

/** @returns {Promise<string>} slug of a new virtual key whose provider is the fake upstream. */
export async function createVirtualKey(base, keys, upstreamPort) {
  const { data } = await ask(base, keys.workspace_api_key, '/v1/virtual-keys', {
    name: 'bench',
    provider: 'openai',
    key: 'sk-bench',
    custom_host: `http://127.0.0.1:${upstreamPort}/v1`,
    workspace_id: keys.workspace_id,
  });
  return data.slug;
}

/** Creates a resource; rejects when that fails. */
export async function ask(base, key, path, body) {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'x-gateway-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
