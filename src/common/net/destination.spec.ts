import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/app-error.js';
import { parseDestination } from './destination.js';
import { Egress } from '../../egress/egress.js';
import { parseEgressAllow } from './egress-allow.js';

const outcome = (text: string, allow = ''): string => {
  const egress = new Egress({ allow: parseEgressAllow(allow).rules, timeouts: { connectMs: 100 } });
  try {
    egress.checkDestination(parseDestination(text));
    return 'open';
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
};

const INVALID = [
  '',
  ' ',
  'api.openai.com',
  'http://api.openai.com@127.0.0.1:9/',
  'http://user:pass@api.openai.com/',
  'http://127.0.0.1#@api.openai.com',
  'https://api.openai.com/#x',
  'https://api.openai.com/?x=1',
  'https://api.openai.com?',
  'http:\\\\127.0.0.1',
  'http://127.0.0.1\\@api.openai.com',
  'http:127.0.0.1',
  'http:/127.0.0.1',
  'http:///127.0.0.1',
  '//host',
  'file:///etc/passwd',
  'gopher://x',
  'ftp://x',
  'data:text/plain,x',
  'unix:/var/run/x.sock',
  'ws://x',
  'https+x://x',
  'javascript:alert(1)',
  `https://api.example.com/${'a'.repeat(2_049)}`,
  'https://api.example.com:0/',
  'https://api.example.com:65536/',
  'http://10.99.0.5:0',
  'http://10.99.0.5:65536',
  'https://api.example.com:/',
  'https://api.example.com:0443/',
  'https://api.example.com: 443/',
  'https://api.example.com:+443/',
  ' https://api.example.com',
  'https://api.example.com\n',
  'https://api.exa\tmple.com/',
  'https://api.exa\nmple.com/',
  'https://api.exam\u0000ple.com/',
  'http://１２７.0.0.1/',
  'https://ⓔxample.com/',
  'https://exämple.com/',
  'https://127%2e0.0.1/',
  'https://%31%32%37.0.0.1/',
  'https://a..b:443@c/',
  'https://[::1',
  'https://[::1]x/',
  'http://[fe80::1%25eth0]/',
  'http://1.2.3.4.5/',
  'http://256.256.256.256/',
  'https://api.example.com/a/../b',
  'https://api.example.com/%2e%2e/b',
  'https://api.example.com/a"b',
];

const BLOCKED = [
  'http://127.0.0.1:9/',
  'https://127.0.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://localhost:9',
  'https://localhost',
  'http://LOCALHOST.',
  'https://LOCALHOST.',
  'http://a.localhost',
  'https://a.localhost',
  'http://ip6-localhost',
  'http://host.docker.internal',
  'https://host.docker.internal',
  'https://metadata.google.internal',
  'https://metadata.google.internal.',
  'https://METADATA',
  'http://2130706433:9/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://127.0.0.1./',
  'http://0/',
  'https://0/',
  'http://0.0.0.0:9/',
  'http://[::ffff:127.0.0.1]:9/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[0:0:0:0:0:ffff:127.0.0.1]/',
  'https://[::]/',
  'https://[::1]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[fc00::1]/',
  'https://[ff02::1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://100.64.0.1',
  'https://198.18.0.1',
  'https://224.0.0.1',
  'https://240.0.0.1',
  'https://255.255.255.255',
  'https://192.0.2.1',
  'https://10.99.0.5',
  'https://vllm',
  'https://vllm.lan',
  'https://vllm.corp.internal',
  'http://api.openai.com',
  'https://api.openai.com.',
  'https://api.openai.com:22',
  'https://api.openai.com:25',
  'https://api.openai.com:5432',
  'https://api.openai.com:6379',
  'https://api.openai.com:8443',
];

describe('a destination that a caller names', () => {
  it.each(INVALID)('%j is refused as unreadable', (text) =>
    expect(outcome(text)).toBe('custom_host_invalid'),
  );
  it.each(BLOCKED)('%j is refused as closed', (text) => expect(outcome(text)).toBe('custom_host_blocked'));

  it.each([
    'https://api.openai.com',
    'https://api.openai.com/v1',
    'https://API.OpenAI.com/v1/',
    'HTTPS://api.openai.com',
    'https://api.openai.com:443/v1',
    'https://api.openai.com:80',
    'https://8.8.8.8/v1',
    'https://[2606:4700:4700::1111]/v1',
    'https://xn--exmple-cua.com/',
    'https://my_host.example.com/a%2Fb',
  ])('%j may be looked up', (text) => expect(outcome(text)).toBe('open'));

  it.each([
    ['http://10.99.0.5:8000', '10.99.0.5:8000', 'open'],
    ['http://10.99.0.5:8000/v1', '10.0.0.0/8:8000', 'open'],
    ['http://10.99.0.6:8000', '10.99.0.5:8000', 'custom_host_blocked'],
    ['http://10.99.0.5:22', '10.99.0.5:8000', 'custom_host_blocked'],
    ['http://10.99.0.5:5432', '10.99.0.5:8000', 'custom_host_blocked'],
    ['http://10.99.0.5:6379', '10.99.0.5:8000', 'custom_host_blocked'],
    ['http://2130706433:9100', '127.0.0.1:9100', 'open'],
    ['http://[::ffff:127.0.0.1]:9100', '127.0.0.1:9100', 'open'],
    ['http://localhost:9100', 'localhost:9100', 'open'],
    ['http://localhost:9100', '127.0.0.1:9100', 'custom_host_blocked'],
    ['http://vllm.lan:8000', '10.0.0.0/8:8000', 'open'],
    ['http://vllm.lan:8001', '10.0.0.0/8:8000', 'custom_host_blocked'],
    ['https://api.example.com:8443', 'api.example.com:8443', 'open'],
    ['http://169.254.169.254:80', '0.0.0.0/0:*', 'custom_host_blocked'],
    ['http://[fd00:ec2::254]', '[::/0]:*', 'custom_host_blocked'],
    ['http://metadata.google.internal', '*.internal:*', 'custom_host_blocked'],
    ['http://[2002:a9fe:a9fe::1]', '[::/0]:*', 'custom_host_blocked'],
  ])('%s with the allow list %s: %s', (text, allow, expected) => expect(outcome(text, allow)).toBe(expected));

  it('is given back with its path, so that the caller can build on it', () => {
    expect(parseDestination('https://API.example.com:8443/v1/base').href).toBe(
      'https://api.example.com:8443/v1/base',
    );
  });
});
