import { describe, expect, it } from 'vitest';
import { parseAddress } from './address-classes.js';
import { isAllowed, parseEgressAllow } from './egress-allow.js';

const allows = (text: string, host: string, at: string, port: number) => {
  const { rules, problems } = parseEgressAllow(text);
  expect(problems).toEqual([]);
  const address = parseAddress(at);
  return address !== null && isAllowed(rules, host, address, port);
};

describe('parseEgressAllow', () => {
  it.each([
    ['127.0.0.1:9100', '127.0.0.1', '127.0.0.1', 9100, true],
    ['127.0.0.1:9100', '127.0.0.1', '127.0.0.1', 9101, false],
    ['127.0.0.1:9100', '127.0.0.2', '127.0.0.2', 9100, false],
    ['127.0.0.1:9100', 'x.test', '::ffff:127.0.0.1', 9100, true],
    ['10.0.0.0/8:8000', '10.99.0.5', '10.99.0.5', 8000, true],
    ['10.0.0.0/8:8000', '11.0.0.1', '11.0.0.1', 8000, false],
    ['10.0.0.0/8:8000', 'vllm.lan', '10.1.1.1', 8000, true],
    ['[fd00::/8]:8000', 'fd12::1', 'fd12::1', 8000, true],
    ['[fd00::]/8:8000', 'fd12::1', 'fd12::1', 8000, true],
    ['[::1]:*', '::1', '::1', 1, true],
    ['[::1]:*', '127.0.0.1', '127.0.0.1', 1, false],
    ['10.0.0.0/8:*, vllm.lan:80', 'vllm.lan', '192.168.0.1', 80, true],
    ['vllm.lan:80', 'vllm.lan', '192.168.0.1', 81, false],
    ['VLLM.lan:80', 'vllm.lan', '192.168.0.1', 80, true],
    ['vllm.lan:80', 'evil.vllm.lan', '192.168.0.1', 80, false],
    ['*.corp.test:80', 'a.b.corp.test', '192.168.0.1', 80, true],
    ['*.corp.test:80', 'corp.test', '192.168.0.1', 80, false],
    ['*.corp.test:80', 'evilcorp.test', '192.168.0.1', 80, false],
    ['', '10.0.0.1', '10.0.0.1', 80, false],
  ])('%s: %s at %s port %i is allowed: %s', (text, host, at, port, expected) => {
    expect(allows(text, host, at, port)).toBe(expected);
  });

  it.each([
    ['127.0.0.1', 'is not host:port'],
    ['127.0.0.1:', 'is not host:port'],
    ['::1:80', 'is not host:port'],
    ['http://a:80', 'is not host:port'],
    ['a/b:80', 'cannot be read'],
    ['a:0', 'has a port that does not exist'],
    ['a:65536', 'has a port that does not exist'],
    ['10.0.0.0/33:80', 'cannot be read'],
    ['[fd00::/129]:80', 'cannot be read'],
    ['300.1.1.1:80', 'cannot be read'],
    ['2130706433:80', 'cannot be read'],
    ['10.0.0.0/8/8:80', 'cannot be read'],
    ['*:80', 'cannot be read'],
    ['a..b:80', 'cannot be read'],
    ['-a:80', 'cannot be read'],
    ['169.254.169.254:80', 'stays closed'],
    ['169.254.0.0/16:*', 'stays closed'],
    ['168.63.129.16:80', 'stays closed'],
    ['[fd00:ec2::254]:80', 'stays closed'],
    ['[::ffff:169.254.169.254]:80', 'stays closed'],
    ['metadata.google.internal:80', 'stays closed'],
  ])('says what is wrong with "%s"', (entry, problem) => {
    const { rules, problems } = parseEgressAllow(`10.0.0.1:80,${entry}`);

    expect(rules).toHaveLength(1);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).toContain(`"${entry}"`);
  });
});
