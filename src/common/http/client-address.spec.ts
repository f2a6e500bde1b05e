import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ClientAddresses, isAddressRange, takeClientAddress } from './client-address.js';

const from = (remoteAddress: string | undefined, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('ClientAddresses', () => {
  it('trusts no proxy unless configured', () => {
    expect(new ClientAddresses([]).of(from('10.0.0.1', '203.0.113.7'))).toBe('10.0.0.1');
    expect(new ClientAddresses(['10.0.0.0/8']).of(from('192.0.2.1', '203.0.113.7'))).toBe('192.0.2.1');
  });

  it('goes back past every trusted proxy and not a step further', () => {
    const addresses = new ClientAddresses(['10.0.0.0/8', '192.0.2.9', 'fd00::/8']);

    expect(addresses.of(from('10.0.0.1', '203.0.113.7'))).toBe('203.0.113.7');
    expect(addresses.of(from('::ffff:10.0.0.1', '198.51.100.1, 203.0.113.7, 192.0.2.9'))).toBe('203.0.113.7');
    expect(addresses.of(from('fd00::1', '2001:db8::1, 10.1.1.1'))).toBe('2001:db8::1');
    expect(addresses.of(from('10.0.0.1', '10.0.0.2, 10.0.0.3'))).toBe('10.0.0.2');
  });

  it.each([
    ['203.0.113.9:4711', '203.0.113.9'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    [' 2001:db8::7 ', '2001:db8::7'],
    ['::ffff:203.0.113.9', '::ffff:203.0.113.9'],
  ])('reads the hop "%s" as %s, whatever the client wrote before it', (hop, address) => {
    const addresses = new ClientAddresses(['10.0.0.0/8']);

    expect(addresses.of(from('10.0.0.1', `1.2.3.4, ${hop}`))).toBe(address);
    expect(addresses.of(from('10.0.0.1', `1.2.3.4, ${hop}, 10.0.0.2:80, [::ffff:10.0.0.3]`))).toBe(address);
  });

  it.each([
    'unknown',
    '<script>',
    '',
    '_hidden',
    '203.0.113.9:port',
    '203.0.113.9:4711:1',
    '[203.0.113.9]:1',
    '0x1',
    '7',
  ])(
    'counts the last proxy as the client when it wrote "%s", and never an address that the client wrote',
    (hop) => {
      const addresses = new ClientAddresses(['10.0.0.0/8']);

      expect(addresses.of(from('10.0.0.1', `1.2.3.4, ${hop}`))).toBe('10.0.0.1');
      expect(addresses.of(from('10.0.0.1', `1.2.3.4, ${hop}, 10.0.0.2`))).toBe('10.0.0.2');
      expect(addresses.of(from('10.0.0.1', `${hop}, 203.0.113.7`))).toBe('203.0.113.7');
    },
  );

  it('is empty without a peer', () => {
    expect(new ClientAddresses(['10.0.0.0/8']).of(from(undefined))).toBe('');
  });

  it('takes the word of the process that relayed a request', () => {
    const request = from(undefined, '203.0.113.7');
    request.headers['x-gatehouse-client-address'] = '198.51.100.4';
    takeClientAddress(request);

    expect(new ClientAddresses(['10.0.0.0/8']).of(request)).toBe('198.51.100.4');
    expect(request.headers).not.toHaveProperty('x-gatehouse-client-address');
  });

  it.each([
    ['10.0.0.0/8', true],
    ['::1', true],
    ['10.0.0.0/33', false],
    ['proxy.example', false],
  ])('says of %s whether it is an address or range: %s', (text, is) => {
    expect(isAddressRange(text)).toBe(is);
  });
});
