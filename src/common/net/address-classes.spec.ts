import { describe, expect, it } from 'vitest';
import { classify, parseAddress } from './address-classes.js';

const classOf = (text: string) => {
  const address = parseAddress(text);
  if (!address) throw new Error(`${text} is not an address`);
  return classify(address);
};

const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fe80::a9fe:a9fe',
  // The same, embedded in IPv6: mapped, compatible, 6to4, NAT64, local NAT64, Teredo, ISATAP, translated.
  '::ffff:169.254.169.254',
  '::169.254.169.254',
  '2002:a9fe:a9fe::1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a9fe:a9fe',
  '64:ff9b:1:a9fe:a9:fe00::',
  '2001:0:a9fe:a9fe::1',
  '2001:0:808:808::5601:5601',
  '2606:4700::5efe:169.254.169.254',
  '2606:4700::200:5efe:169.254.169.254',
  '::ffff:0:169.254.169.254',
];

const PRIVATE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.99.0.5',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::8.8.8.8',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '3fff::1',
  '5f00::1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:0:127.0.0.1',
  '2606:4700::5efe:10.0.0.1',
  '2606:4700::200:5efe:127.0.0.1',
  'fc00::1',
  'fdff::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001:800::200e',
];

describe('classes of addresses', () => {
  it.each(METADATA)('%s hands out credentials of the machine', (text) =>
    expect(classOf(text)).toBe('metadata'),
  );
  it.each(PRIVATE)('%s is private', (text) => expect(classOf(text)).toBe('private'));
  it.each(PUBLIC)('%s is public', (text) => expect(classOf(text)).toBe('public'));

  it.each(['', 'localhost', '0177.0.0.1', '127.1', '2130706433', 'fe80::1%eth0', '1.2.3.4.5', '[::1]'])(
    'reads canonical addresses only, so not "%s"',
    (text) => expect(parseAddress(text)).toBeNull(),
  );
});
